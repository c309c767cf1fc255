/**
 * The look of the API reference: Swagger UI in the colors and type of the dashboard, light and dark. All text has one of
 * two colors, because Swagger UI's own grays have too little contrast, and nothing deprecated is faded. Swagger UI
 * sets the colors of code inline, so only `!important` overrides them.
 */
export const API_REFERENCE_STYLE = `:root {
  color-scheme: light dark;
  --page: #fff;
  --text: #16191a;
  --soft: #545a5e;
  --line: #d6d7d0;
  --control: #8b8f89;
  --sunken: #f4f4f0;
  --accent: #0b5e6a;
  --danger: #a92a21;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131617;
    --text: #eceeed;
    --soft: #a9afb1;
    --line: #363b3e;
    --control: #6d7477;
    --sunken: #1a1d1f;
    --accent: #6ecbd5;
    --danger: #f59389;
  }
}
body {
  margin: 0;
  background: var(--page);
}
#swagger-ui,
#swagger-ui
  :is(
    h1,
    h2,
    h3,
    h4,
    h5,
    p,
    a,
    span,
    div,
    td,
    th,
    label,
    li,
    button,
    input,
    select,
    textarea,
    small,
    pre,
    code,
    i,
    b,
    section
  ) {
  color: var(--text);
  font-family: Inter, system-ui, -apple-system, "Segoe UI", sans-serif;
  text-shadow: none;
}
#swagger-ui :is(.parameter__in, .parameter__deprecated, .prop-format, .response-col_links, .tab li, .info .base-url) {
  color: var(--soft);
}
#swagger-ui :is(.opblock-summary-description, .opblock-tag small, .parameter__type, .prop-type) {
  color: var(--soft);
}
#swagger-ui :is(code, pre, .microlight, .microlight *, .opblock-summary-path, .opblock-summary-path *) {
  font-family: "JetBrains Mono", ui-monospace, Menlo, Consolas, monospace;
}
#swagger-ui :is(a, .info a, a.nostyle:hover) {
  color: var(--accent);
}
#swagger-ui .opblock-tag a,
#swagger-ui .opblock-summary-path a {
  color: var(--text);
}
#swagger-ui :is(.parameter__name.required span, .parameter__name.required::after, .errors__title) {
  color: var(--danger);
}
#swagger-ui .wrapper {
  max-width: 1184px;
  padding: 0 32px;
}
#swagger-ui .info {
  margin: 32px 0;
}
#swagger-ui .info .title {
  font-weight: 600;
  font-size: 28px;
  letter-spacing: -0.02em;
}
#swagger-ui .info .title small,
#swagger-ui .info .title small pre {
  background: var(--sunken);
  color: var(--soft);
}
#swagger-ui .scheme-container {
  padding: 0 0 16px;
  background: none;
  box-shadow: none;
}
#swagger-ui .opblock-tag {
  border-color: var(--line);
  font-weight: 600;
  font-size: 16px;
}
#swagger-ui .opblock,
#swagger-ui .opblock .opblock-summary {
  border-color: var(--line);
  background: var(--page);
  box-shadow: none;
}
#swagger-ui .opblock {
  border-radius: 6px;
}
#swagger-ui .opblock .opblock-summary-method {
  min-width: 72px;
  border-radius: 4px;
  background: var(--sunken);
  color: var(--text);
  font-weight: 600;
  font-size: 12px;
}
#swagger-ui .opblock.opblock-delete .opblock-summary-method {
  color: var(--danger);
}
#swagger-ui
  :is(.opblock-section-header, section.models, .model-box, .model-container, .dialog-ux .modal-ux, .tab li button) {
  border-color: var(--line);
  background: var(--page);
  box-shadow: none;
}
#swagger-ui :is(.highlight-code, .highlight-code pre, .microlight, .opblock-body pre.microlight, .markdown code) {
  background: var(--sunken) !important;
  color: var(--text) !important;
}
#swagger-ui .microlight span {
  color: var(--text) !important;
}
#swagger-ui :is(input, select, textarea) {
  border: 1px solid var(--control);
  border-radius: 6px;
  background-color: var(--page);
}
#swagger-ui .btn {
  border: 1px solid var(--line);
  border-radius: 6px;
  background: var(--page);
  box-shadow: none;
  color: var(--text);
  font-weight: 500;
}
#swagger-ui :is(.btn.authorize, .btn.execute) {
  border-color: var(--accent);
  color: var(--accent);
}
#swagger-ui .info .title small.version-stamp{
  background: var(--sunken);
}
#swagger-ui .btn.authorize svg,
#swagger-ui :is(svg.arrow, .authorization__btn svg, .expand-operation svg, .model-toggle::after) {
  fill: currentcolor;
  color: var(--soft);
}
#swagger-ui :is(table thead tr td, table thead tr th, .opblock-section-header) {
  border-color: var(--line);
}
#swagger-ui .opblock.opblock-deprecated {
  opacity: 1;
}
#swagger-ui :focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}
@media (max-width: 640px) {
  #swagger-ui .wrapper {
    padding: 0 16px;
  }
  #swagger-ui .opblock .opblock-summary {
    flex-wrap: wrap;
  }
  #swagger-ui :is(.opblock-summary-path, .opblock-summary-path__deprecated) {
    max-width: 100%;
    overflow-wrap: anywhere;
  }
}
`;
