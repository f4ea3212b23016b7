// The little of htmx that our modules touch; they mostly listen to its events.
interface Htmx {
  process(element: Element): void;
  trigger(element: Element | string, event: string, detail?: object): void;
  ajax(verb: string, path: string, context: object): Promise<void>;
}

interface Window {
  htmx: Htmx;
}
