/**
 * The page on which endpoints are tried: Swagger UI, from here and by no other host. What is sent goes out as the person
 * who is signed in, with the token of the page's forms, which the API asks for unless a token came along.
 */

const UNCHANGING = ["GET", "HEAD"];

/** @returns {string} the token that every form of the page carries */
function formToken() {
  return JSON.parse(document.body.getAttribute("hx-headers") ?? "{}")["X-CSRFToken"] ?? "";
}

/** @param {HTMLElement} place where the description is drawn, with its address in `data-schema` */
function draw(place) {
  const { SwaggerUIBundle } = window;
  SwaggerUIBundle({
    url: place.dataset.schema,
    domNode: place,
    deepLinking: true,
    docExpansion: "list",
    validatorUrl: "none",
    presets: [SwaggerUIBundle.presets.apis],
    requestInterceptor: (request) => {
      const here = new URL(request.url, location.href).origin === location.origin;
      if (here && !UNCHANGING.includes(request.method ?? "GET")) request.headers["X-CSRFToken"] = formToken();
      return request;
    },
  });
}

/** @param {HTMLElement} place where Swagger UI makes a landmark of its own inside the page's, now or later */
function oneLandmark(place) {
  const demote = () => place.querySelectorAll("main:not([role])").forEach((each) => each.setAttribute("role", "group"));
  new MutationObserver(demote).observe(place, { childList: true, subtree: true });
}

const place = document.getElementById("explorer");
if (place) {
  oneLandmark(place);
  draw(place);
}
