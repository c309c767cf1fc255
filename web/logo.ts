const PATHS =
  '<path d="M2 5.5C2 3.6 3.6 2 5.5 2h13C20.4 2 22 3.6 22 5.5V6c-6 0-8.8 2.4-10 6.5C10.8 8.4 8 6 2 6Z"/>' +
  '<path d="M2 8.5c5.7 0 8.7 3 8.7 9V22H5.5A3.5 3.5 0 0 1 2 18.5Z"/>' +
  '<path d="M22 8.5c-5.7 0-8.7 3-8.7 9V22h5.2a3.5 3.5 0 0 0 3.5-3.5Z"/>';

/** The logo of Tidings within a page. The style of the page sets its color (`fill`). */
export const MARK = `<svg viewBox="0 0 24 24" aria-hidden="true">${PATHS}</svg>`;

/** The logo as the icon of a browser tab, with a color for light and a color for dark mode. */
export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><style>svg{fill:#0c6673}' +
  `@media(prefers-color-scheme:dark){svg{fill:#4dbac6}}</style>${PATHS}</svg>`;
