/** The behaviours of the top bar on the pages of Django's admin, which has scripts of its own for the rest. */

import { init as menus } from "./ui/menus.js";
import { init as theme } from "./ui/theme.js";

theme(document);
menus(document);
