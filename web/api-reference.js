/**
 * Starts Swagger UI in the page at /docs. Its own resolver of references parses the whole document anew, which takes seconds;
 * all of our references lead to the document itself, so a walk over what is shown is enough.
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

/** The value with each reference replaced by what it leads to; one within itself stays a reference. */
function follow(document, value, within) {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => follow(document, item, within));
  const { $ref: reference, ...rest } = value;
  if (typeof reference !== 'string') {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, follow(document, part, within)]));
  }
  if (within.includes(reference)) return value;
  const target = follow(document, valueAt(document, namesIn(reference)), [...within, reference]);
  // By `$$ref` Swagger UI knows the name of what it shows.
  return { ...target, ...follow(document, rest, within), $$ref: reference };
}

function valueAt(document, path) {
  return path.reduce((value, name) => value?.[name], document);
}

/** `#/components/schemas/Contact` as the names on the way: RFC 6901. */
function namesIn(reference) {
  const names = reference.replace('#/', '').split('/');
  return names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
}
