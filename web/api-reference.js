/**
 * Starts Swagger UI in the page at /docs, and replaces the code that resolves references. Swagger UI's code parses the
 * whole OpenAPI document again, which takes seconds. All our references point to the same document, so it is enough to
 * resolve the references of the part that the page shows.
 */
const localReferences = () => ({
  fn: {
    resolveSubtree: async (document, path) => ({
      spec: resolveReferences(document, getValueAt(document, path), []),
      errors: [],
    }),
  },
});

/**
 * Names the version of the paths. The version of the document is 1.0.0, which readers take for the version of a release.
 */
const pathVersion = () => ({
  wrapComponents: {
    VersionStamp: (Original, system) => () => system.React.createElement(Original, { version: 'API v1' }),
  },
});

SwaggerUIBundle({
  url: '/openapi.json?paths=v1',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  plugins: [localReferences, pathVersion],
});

/**
 * Fixes problems of Swagger UI for screen readers and the keyboard: selects without a name, sections outside of a
 * landmark, headings that skip a level, code that scrolls but cannot have the focus, buttons that show only an icon,
 * and links inside of buttons. A link inside a button is not needed, because a click on the button changes the URL in
 * the same way.
 */
const fixAccessibility = () => {
  for (const select of document.querySelectorAll('.swagger-ui select:not([aria-label])')) {
    const isServer = select.closest('.servers') !== null;
    const isType = select.closest('.content-type-wrapper, .body-param-content-type') !== null;
    select.setAttribute('aria-label', isServer ? 'Server' : isType ? 'Media type' : 'Value');
  }
  setOnce('.swagger-ui .information-container > section', 'aria-label', 'About this API');
  setOnce('.swagger-ui .scheme-container > section', 'aria-label', 'Server and authorization');
  setOnce('.swagger-ui :is(.opblock-tag, .models > h4)', 'aria-level', '2');
  setOnce('.swagger-ui .info .title', 'aria-level', '1');
  setOnce('.swagger-ui .opblock :is(h4, h5)', 'aria-level', '3');
  setOnce('.swagger-ui .modal-ux-header h3', 'aria-level', '2');
  setOnce('.swagger-ui .auth-container :is(h4, h5)', 'aria-level', '3');
  setOnce('.swagger-ui pre', 'tabindex', '0');
  setOnce('.swagger-ui .body-param__text', 'aria-label', 'Request body');
  setOnce('.swagger-ui .close-modal', 'aria-label', 'Close');
  setOnce('.swagger-ui .json-schema-2020-12-accordion:not(:has(.json-schema-2020-12__title))', 'aria-label', 'Fields');
  for (const link of document.querySelectorAll('.swagger-ui button a[href]')) link.removeAttribute('href');
};
const setOnce = (selector, attribute, value) => {
  for (const element of document.querySelectorAll(selector)) {
    if (element.getAttribute(attribute) !== value) element.setAttribute(attribute, value);
  }
};
new MutationObserver(fixAccessibility).observe(document.getElementById('swagger-ui'), {
  childList: true,
  subtree: true,
});

/**
 * Returns the value with each reference replaced by its target. A schema that refers to itself keeps that
 * reference, because the copy would never end. `within` lists the references that were replaced on the way to the value.
 */
function resolveReferences(document, value, within) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => resolveReferences(document, item, within));
  const { $ref: reference, ...rest } = value;
  if (typeof reference !== 'string') {
    return Object.fromEntries(
      Object.entries(value).map(([name, part]) => [name, resolveReferences(document, part, within)]),
    );
  }
  if (within.includes(reference)) return value;
  const target = resolveReferences(document, getValueAt(document, parseReference(reference)), [...within, reference]);
  // Swagger UI reads the name of a schema from `$$ref`.
  return { ...target, ...resolveReferences(document, rest, within), $$ref: reference };
}

function getValueAt(document, path) {
  return path.reduce((value, name) => value?.[name], document);
}

/** Splits a reference such as `#/components/schemas/Contact` into its names (RFC 6901). */
function parseReference(reference) {
  const names = reference.replace('#/', '').split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
