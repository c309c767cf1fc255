import { interpolate } from '../content/interpolate.ts';
import type { Data } from '../filters/data-values.ts';
import type { Sourced } from '../provenance/provenance.ts';

const ENCODES_ITSELF = /\|\s*(?:url_encode|uri_escape|cgi_escape)\s*$/;

/** Inserts variables into the URL of a WEBHOOK step. Untrusted values are not inserted. */
export function fillWebhookUrl(url: string, variables: Sourced<Data>): string {
  return interpolate(url, variables, { untrusted: 'omit', encode: encodeForUrl });
}

/** Encodes a value for a URL or a form, unless its expression ends with a filter that encodes, such as `url_encode`. */
export function encodeForUrl(text: string, _before: string, source: string): string {
  // JSON may contain half of a surrogate pair, which `encodeURIComponent` would refuse.
  return ENCODES_ITSELF.test(source) ? text : encodeURIComponent(text.toWellFormed());
}
