import { INTER_FACE, MONO, MONO_FACE, SANS } from './fonts.ts';

/**
 * The look of the API reference: Swagger UI in the colors, fonts and sizes of the dashboard, light and dark. Gray text
 * has one color (`--soft`), because Swagger UI's own grays have too little contrast. Deprecated operations are not
 * faded. Swagger UI sets the colors of code inline, so only `!important` overrides them.
 */
export const API_REFERENCE_STYLE = `${INTER_FACE}
${MONO_FACE}
:root {
  color-scheme: light dark;
  --page: #fff;
  --canvas: #f9f9f6;
  --text: #16191a;
  --soft: #545a5e;
  --line: #e8e8e2;
  --strong: #d6d7d0;
  --control: #8b8f89;
  --sunken: #f4f4f0;
  --hover: #f6f6f2;
  --accent: #0b5e6a;
  --fill: #0c6673;
  --on-fill: #fff;
  --danger: #a92a21;
  --done: #17683d;
  --moving: #22559f;
  --waiting: #7a4c08;
  --arrow: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='16' height='16' fill='none' stroke='%23545a5e' stroke-width='1.75'%3E%3Cpath d='m4 6 4 4 4-4'/%3E%3C/svg%3E");
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #131617;
    --canvas: #0d0f10;
    --text: #eceeed;
    --soft: #a9afb1;
    --line: #262a2c;
    --strong: #363b3e;
    --control: #6d7477;
    --sunken: #1a1d1f;
    --hover: #1a1d1f;
    --accent: #6ecbd5;
    --fill: #4dbac6;
    --on-fill: #04191c;
    --danger: #f59389;
    --done: #74cf9c;
    --moving: #93bbf5;
    --waiting: #ecc079;
    --arrow: url("data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='16' height='16' fill='none' stroke='%23a9afb1' stroke-width='1.75'%3E%3Cpath d='m4 6 4 4 4-4'/%3E%3C/svg%3E");
  }
}
body {
  margin: 0;
  background: var(--page);
  -webkit-font-smoothing: antialiased;
}
.bar {
  display: flex;
  position: sticky;
  top: 0;
  z-index: 2;
  gap: 8px 20px;
  align-items: center;
  height: 52px;
  padding: 0 32px;
  border-bottom: 1px solid var(--line);
  background: var(--page);
  color: var(--soft);
  font: 500 13px/18px ${SANS};
}
.bar a {
  color: var(--soft);
  text-decoration: none;
}
.bar a:hover {
  color: var(--text);
}
.bar .brand {
  display: flex;
  gap: 8px;
  align-items: center;
  color: var(--text);
  font-weight: 600;
  font-size: 14px;
}
.bar svg {
  width: 20px;
  height: 20px;
  fill: var(--fill);
}
.bar a:last-child {
  margin-left: auto;
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
  font-family: ${SANS};
  text-shadow: none;
}
#swagger-ui :is(p, li, td, .renderedMarkdown, .model, .parameter__name, .tab li, label, .response-col_status) {
  font-size: 13px;
  line-height: 20px;
}
#swagger-ui
  :is(
    .parameter__in,
    .parameter__deprecated,
    .parameter__type,
    .prop-type,
    .prop-format,
    .response-col_links,
    .tab li,
    .info .base-url,
    .opblock-summary-description,
    .opblock-tag small,
    .opblock-tag small *,
    .response-control-media-type__accept-message,
    .parameter__empty_value_toggle
  ) {
  color: var(--soft);
}
#swagger-ui
  :is(
    code,
    pre,
    .microlight,
    .microlight *,
    .opblock-summary-path,
    .opblock-summary-path *,
    .opblock-summary-method,
    .parameter__type,
    .prop-type,
    .body-param__text
  ) {
  font-family: ${MONO};
}
#swagger-ui :is(a, .info a, a.nostyle:hover) {
  color: var(--accent);
}
#swagger-ui .opblock-tag a,
#swagger-ui .opblock-summary-path a {
  color: var(--text);
}
#swagger-ui :is(.parameter__name.required span, .errors__title, .star),
#swagger-ui .parameter__name.required::after {
  color: var(--danger);
}
#swagger-ui .parameter__name.required {
  font-weight: 500;
}
#swagger-ui .wrapper {
  max-width: 1184px;
  padding: 0 32px;
}
#swagger-ui .info {
  margin: 32px 0 20px;
}
#swagger-ui .info .title {
  display: flex;
  flex-wrap: wrap;
  gap: 8px;
  align-items: center;
  margin: 0 0 4px;
  font-weight: 600;
  font-size: 20px;
  line-height: 28px;
  letter-spacing: -0.014em;
}
#swagger-ui .info .title > span {
  display: inline-flex;
  gap: 6px;
}
#swagger-ui .info .title small,
#swagger-ui .info .title small.version-stamp {
  position: static;
  margin: 0;
  padding: 1px 6px;
  border: 1px solid var(--strong);
  border-radius: 4px;
  background: none;
}
#swagger-ui .info .title small pre {
  padding: 0;
  background: none;
  color: var(--soft);
  font-weight: 500;
  font-size: 12px;
  font-family: ${SANS};
  line-height: 16px;
}
#swagger-ui .info .main > a,
#swagger-ui .info .info__license {
  display: none;
}
#swagger-ui .info :is(p, li) {
  font-size: 14px;
}
#swagger-ui :is(.markdown, .renderedMarkdown) code {
  padding: 1px 4px;
  border-radius: 4px;
  background: var(--sunken) !important;
  color: var(--text) !important;
  font-weight: 400;
  font-size: 12px;
}
#swagger-ui .scheme-container {
  margin: 0;
  padding: 0 0 20px;
  background: none;
  box-shadow: none;
}
#swagger-ui .scheme-container .schemes {
  align-items: flex-end;
}
#swagger-ui .servers-title {
  font-weight: 500;
  font-size: 13px;
}
#swagger-ui .opblock-tag {
  gap: 0 12px;
  margin: 0;
  padding: 12px 8px;
  border-color: var(--line);
  font-weight: 600;
  font-size: 14px;
  line-height: 20px;
}
#swagger-ui .opblock-tag:hover {
  background: var(--hover);
}
#swagger-ui .opblock-tag > a {
  flex: none;
}
#swagger-ui .opblock-tag small {
  padding: 0;
}
#swagger-ui .opblock-tag small p {
  margin: 0;
  font-size: 13px;
}
#swagger-ui .opblock-tag .expand-operation {
  display: grid;
  flex: none;
  place-content: center;
  width: 32px;
  height: 32px;
  margin: -6px 0;
  padding: 0;
}
#swagger-ui .opblock-tag-section.is-open {
  padding-bottom: 12px;
}
#swagger-ui .opblock,
#swagger-ui .opblock .opblock-summary {
  border-color: var(--line);
  background: var(--page);
  box-shadow: none;
}
#swagger-ui .opblock {
  margin: 0 0 8px;
  border-radius: 6px;
}
#swagger-ui .opblock .opblock-summary {
  padding: 3px 8px;
  border-radius: 6px;
}
#swagger-ui .opblock .opblock-summary:hover {
  background: var(--hover);
}
#swagger-ui .opblock .opblock-summary-method {
  min-width: 60px;
  padding: 3px 0;
  border-radius: 4px;
  background: var(--sunken);
  color: var(--text);
  font-weight: 600;
  font-size: 11px;
  line-height: 16px;
}
#swagger-ui .opblock.opblock-get .opblock-summary-method {
  color: var(--moving);
}
#swagger-ui .opblock.opblock-post .opblock-summary-method {
  color: var(--done);
}
#swagger-ui .opblock:is(.opblock-put, .opblock-patch) .opblock-summary-method {
  color: var(--waiting);
}
#swagger-ui .opblock.opblock-delete .opblock-summary-method {
  color: var(--danger);
}
#swagger-ui :is(.opblock-summary-path, .opblock-summary-path__deprecated) {
  flex-shrink: 0;
  max-width: 60%;
  font-weight: 500;
  font-size: 13px;
  line-height: 20px;
}
#swagger-ui .opblock-summary-description {
  font-size: 13px;
  line-height: 20px;
}
#swagger-ui
  :is(.opblock-section-header, section.models, .model-box, .model-container, .dialog-ux .modal-ux, .tab li button) {
  border-color: var(--line);
  background: var(--page);
  box-shadow: none;
}
#swagger-ui .opblock-section-header {
  min-height: 44px;
  padding: 0 16px;
  border-top: 1px solid var(--line);
  border-bottom: 1px solid var(--line);
}
#swagger-ui .opblock-section-header h4,
#swagger-ui :is(.responses-inner h4, .responses-inner h5, .opblock-title_normal h4) {
  font-weight: 600;
  font-size: 13px;
}
#swagger-ui .tab-header .tab-item.active h4 span::after {
  background: var(--fill);
}
#swagger-ui .tab li {
  padding-right: 16px;
}
#swagger-ui .tab li:first-of-type::after {
  display: none;
}
#swagger-ui .tab li.active button {
  color: var(--text);
}
#swagger-ui :is(.highlight-code, .highlight-code pre, .microlight, .opblock-body pre.microlight) {
  border-radius: 6px;
  background: var(--sunken) !important;
  color: var(--text) !important;
  font-weight: 400;
  font-size: 12px;
  line-height: 18px;
}
#swagger-ui .microlight span {
  color: var(--text) !important;
}
#swagger-ui :is(.copy-to-clipboard, .download-contents) {
  border: 1px solid var(--strong);
  border-radius: 4px;
  background-color: var(--page);
}
#swagger-ui .opblock-summary .copy-to-clipboard {
  border: 0;
  background-color: transparent;
}
/* The copy icon is white, so a light page needs it darker. */
@media (prefers-color-scheme: light) {
  #swagger-ui .copy-to-clipboard button {
    filter: invert(0.6);
  }
}
#swagger-ui .webhooks h2 {
  margin: 24px 0 8px;
  padding: 0 8px;
  font-weight: 600;
  font-size: 14px;
  line-height: 20px;
}
#swagger-ui :is(input, select, textarea) {
  min-height: 32px;
  padding: 5px 10px;
  border: 1px solid var(--control);
  border-radius: 6px;
  background-color: var(--page);
  font-weight: 400;
  font-size: 13px;
}
#swagger-ui textarea.body-param__text {
  min-height: 240px;
  font-size: 12px;
  font-family: ${MONO};
  line-height: 18px;
}
#swagger-ui select {
  padding-right: 32px;
  background: var(--page) var(--arrow) right 8px center no-repeat;
  box-shadow: none;
}
#swagger-ui .btn {
  padding: 6px 12px;
  border: 1px solid var(--strong);
  border-radius: 6px;
  background: var(--page);
  box-shadow: none;
  color: var(--text);
  font-weight: 500;
  font-size: 13px;
  line-height: 18px;
}
#swagger-ui .btn:hover {
  border-color: var(--control);
}
#swagger-ui .btn.execute,
#swagger-ui .btn.modal-btn.authorize {
  border-color: var(--fill);
  background: var(--fill);
  color: var(--on-fill);
}
#swagger-ui .btn.authorize {
  display: inline-flex;
  gap: 8px;
  align-items: center;
  padding: 6px 12px;
}
#swagger-ui .btn.authorize span {
  float: none;
  padding: 0;
}
#swagger-ui .btn.modal-btn.authorize,
#swagger-ui .btn.execute {
  justify-content: center;
}
#swagger-ui .btn.authorize svg,
#swagger-ui :is(svg.arrow, .authorization__btn svg, .expand-operation svg, .model-toggle::after) {
  width: 16px;
  height: 16px;
  fill: currentcolor;
  color: var(--soft);
}
#swagger-ui .dialog-ux .modal-ux {
  border: 1px solid var(--line);
  border-radius: 10px;
}
#swagger-ui .dialog-ux .modal-ux-header {
  border-color: var(--line);
}
#swagger-ui .dialog-ux .modal-ux-header .close-modal svg {
  fill: var(--soft);
}
#swagger-ui :is(table thead tr td, table thead tr th, .opblock-section-header) {
  border-color: var(--line);
}
#swagger-ui table thead tr :is(td, th) {
  color: var(--soft);
  font-weight: 500;
  font-size: 12px;
}
/* Hides the column for OpenAPI links, because no operation defines any. */
#swagger-ui .response-col_links {
  display: none;
}
#swagger-ui .responses-table > tbody > tr > td {
  padding: 16px 0;
}
#swagger-ui .responses-table > tbody > .response + .response > td {
  border-top: 1px solid var(--line);
}
#swagger-ui :is(.dialog-ux, .auth-container) hr,
#swagger-ui .auth-container {
  border-color: var(--line);
}
#swagger-ui :is(.json-schema-2020-12, [class*="json-schema-2020-12__"], [class*="json-schema-2020-12-"]) {
  border-color: var(--line);
  background-color: transparent;
  color: var(--text);
}
#swagger-ui :is(.json-schema-2020-12__attribute, .json-schema-2020-12-keyword__value) {
  color: var(--soft);
  font-family: ${MONO};
}
#swagger-ui .json-schema-2020-12-accordion__icon svg {
  fill: var(--soft);
}
#swagger-ui .opblock.opblock-deprecated {
  opacity: 1;
}
#swagger-ui section.models {
  border: 1px solid var(--line);
  border-radius: 6px;
}
#swagger-ui section.models h4 {
  padding: 8px 12px;
  border-color: var(--line);
  font-size: 14px;
}
#swagger-ui section.models .model-container {
  margin: 0 12px 8px;
  border-radius: 6px;
}
#swagger-ui .model-hint {
  background: var(--text);
  color: var(--page);
}
#swagger-ui .loading-container .loading::before {
  border-color: var(--strong);
  border-top-color: var(--fill);
}
.bar a:focus-visible,
#swagger-ui :focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
}
#swagger-ui :focus:not(:focus-visible) {
  outline: none;
}
/* Swagger UI animates color changes of buttons, but a change of the color scheme must show at once. */
#swagger-ui .btn {
  transition: none;
}
@media (max-width: 640px) {
  .bar {
    padding: 0 16px;
  }
  #swagger-ui .wrapper {
    padding: 0 16px;
  }
  #swagger-ui .opblock-tag {
    flex-wrap: wrap;
    padding: 10px 40px 10px 0;
    position: relative;
  }
  #swagger-ui .opblock-tag small {
    flex: 1 0 100%;
  }
  #swagger-ui .opblock-tag .expand-operation {
    position: absolute;
    right: 0;
    top: calc(50% - 20px);
    width: 40px;
    height: 40px;
    margin: 0;
  }
  #swagger-ui .opblock .opblock-summary {
    flex-wrap: wrap;
  }
  #swagger-ui :is(.opblock-summary-path, .opblock-summary-path__deprecated) {
    max-width: 100%;
    overflow-wrap: anywhere;
  }
  #swagger-ui .opblock-summary-path-description-wrapper {
    flex-flow: column;
    gap: 0;
    align-items: flex-start;
  }
  #swagger-ui :is(input, select, .btn) {
    min-height: 40px;
  }
  /* A response is below its status code, because a column for status codes leaves too little room for examples. */
  #swagger-ui .responses-table > thead {
    display: none;
  }
  #swagger-ui .responses-table,
  #swagger-ui .responses-table > tbody,
  #swagger-ui .responses-table > tbody > tr,
  #swagger-ui .responses-table > tbody > tr > td {
    display: block;
    width: auto;
  }
  #swagger-ui .responses-table > tbody > tr > td {
    padding: 4px 0;
  }
  #swagger-ui .responses-table > tbody > tr > .response-col_status {
    padding-top: 16px;
    font-weight: 600;
  }
  #swagger-ui .responses-table > tbody > .response + .response > td:not(.response-col_status) {
    border-top: 0;
  }
  #swagger-ui .responses-table > tbody > tr > .response-col_links {
    display: none;
  }
}
`;
