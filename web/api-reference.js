/**
 * Starts Swagger UI in the page at /docs, and replaces its resolver of references. Swagger UI's resolver parses the
 * whole document again, which takes seconds. All of our references lead to the same document, so it is enough to
 * resolve the part that the page shows.
 */
const localReferences = () => ({
  fn: {
    resolveSubtree: async (document, path) => ({ spec: follow(document, valueAt(document, path), []), errors: [] }),
  },
});

SwaggerUIBundle({
  url: '/openapi.json?paths=v1',
  dom_id: '#swagger-ui',
  deepLinking: true,
  docExpansion: 'none',
  plugins: [localReferences],
});

/** Gives a name to the selects that Swagger UI leaves without one, which screen readers would read as "list". */
const nameSelects = () => {
  for (const select of document.querySelectorAll('.swagger-ui select:not([aria-label])')) {
    const isServer = select.closest('.servers') !== null;
    const isType = select.closest('.content-type-wrapper, .body-param-content-type') !== null;
    select.setAttribute('aria-label', isServer ? 'Server' : isType ? 'Media type' : 'Value');
  }
};
new MutationObserver(nameSelects).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });

/** Returns the value with each reference replaced by its target. A reference inside its own target does not change. */
function follow(document, value, within) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => follow(document, item, within));
  const { $ref: reference, ...rest } = value;
  if (typeof reference !== 'string') {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, follow(document, part, within)]));
  }
  if (within.includes(reference)) return value;
  const target = follow(document, valueAt(document, namesIn(reference)), [...within, reference]);
  // Swagger UI reads the name of a schema from `$$ref`.
  return { ...target, ...follow(document, rest, within), $$ref: reference };
}

function valueAt(document, path) {
  return path.reduce((value, name) => value?.[name], document);
}

/** Splits a reference such as `#/components/schemas/Contact` into its names (RFC 6901). */
function namesIn(reference) {
  const names = reference.replace('#/', '').split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
