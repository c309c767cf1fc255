import type { Liquid } from 'liquidjs';
import { toPlainText } from './plain-value.ts';

/** The filters that read text. The library would pass them "[object Object]" for an object. */
const TEXT_FILTERS =
  'append base64_encode capitalize cgi_escape downcase lstrip newline_to_br normalize_whitespace prepend rstrip sha256 slugify squish strip strip_html strip_newlines truncate truncatewords upcase uri_escape url_encode';

/**
 * Makes text filters read objects and lists as JSON. The filters that join a list read each of its items in this way.
 */
export function registerTextFilters(engine: Liquid): void {
  const convertToText = (value: unknown) => (typeof value === 'object' && value !== null ? toPlainText(value) : value);
  const convertItems = (value: unknown) => (Array.isArray(value) ? value.map(convertToText) : value);
  const wrapFilter = (name: string, convert: (value: unknown) => unknown) => {
    const filter = engine.filters[name];
    if (!filter) return;
    const handler = typeof filter === 'function' ? filter : filter.handler;
    const converted: typeof handler = function (value, ...args) {
      return handler.call(this, convert(value), ...args.map(convertToText));
    };
    engine.registerFilter(name, typeof filter === 'function' ? converted : { ...filter, handler: converted });
  };
  for (const name of TEXT_FILTERS.split(' ')) wrapFilter(name, convertToText);
  for (const name of ['join', 'array_to_sentence_string']) wrapFilter(name, convertItems);
  engine.registerFilter('raw', { raw: true, handler: convertToText });
}
