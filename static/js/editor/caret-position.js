/** Where a place in the text field is on the screen: measured on a copy of the field that nobody sees. */

const COPIED = /** @type {const} */ ([
  "boxSizing", "borderTopWidth", "borderRightWidth", "borderBottomWidth", "borderLeftWidth", "direction",
  "fontFamily", "fontSize", "fontStyle", "fontWeight", "letterSpacing", "lineHeight", "paddingTop", "paddingRight",
  "paddingBottom", "paddingLeft", "tabSize", "textAlign", "textIndent", "wordSpacing",
]);

/**
 * @param {HTMLTextAreaElement} field
 * @param {number} offset
 * @returns {{left: number, top: number, height: number}} in the field's own box, scrolled as it is
 */
export function placeOf(field, offset) {
  const style = getComputedStyle(field);
  const copy = document.createElement("div");
  for (const name of COPIED) copy.style[name] = style[name];
  Object.assign(copy.style, {
    position: "fixed",
    insetInlineStart: "0",
    insetBlockStart: "0",
    visibility: "hidden",
    whiteSpace: "pre-wrap",
    overflowWrap: "break-word",
    width: `${field.offsetWidth}px`,
  });
  copy.dir = style.direction;
  const mark = document.createElement("span");
  mark.textContent = "\u200b";
  copy.append(field.value.slice(0, offset), mark, field.value.slice(offset, offset + 200));
  document.body.append(copy);
  const [at, box] = [mark.getBoundingClientRect(), copy.getBoundingClientRect()];
  copy.remove();
  return { left: at.left - box.left - field.scrollLeft, top: at.top - box.top - field.scrollTop, height: at.height };
}

/** @param {HTMLTextAreaElement} field @param {number} offset scroll the field so that this place is well in sight */
export function scrollTo(field, offset) {
  const { top, height } = placeOf(field, offset);
  if (top < height || top > field.clientHeight - 2 * height) field.scrollTop += top - field.clientHeight / 3;
}
