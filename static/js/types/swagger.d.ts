// The little of Swagger UI that our module touches.
interface SwaggerRequest {
  url: string;
  method?: string;
  headers: Record<string, string>;
}

interface SwaggerUIBundle {
  (options: {
    url?: string;
    domNode: HTMLElement;
    deepLinking: boolean;
    docExpansion: "none" | "list" | "full";
    validatorUrl: string;
    presets: unknown[];
    requestInterceptor: (request: SwaggerRequest) => SwaggerRequest;
  }): unknown;
  presets: { apis: unknown };
}

interface Window {
  SwaggerUIBundle: SwaggerUIBundle;
}
