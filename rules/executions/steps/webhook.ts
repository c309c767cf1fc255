import { z } from 'zod';
import { listExpressionErrors } from '../../content/expressions.ts';
import { listRepeatedHeaders, REPEATED_HEADER } from '../../header-names.ts';
import { declareForms } from '../../input-forms.ts';
import { isReservedRequestHeader } from '../../webhooks/headers.ts';
import { type EffectStep, findConfigErrors } from './definition.ts';

/** The config of a WEBHOOK step that can send its request. */
export const WebhookConfig = z.object({
  url: z
    .string()
    .max(2_000)
    .regex(/^https?:\/\//i, 'a URL begins with http:// or https://, written literally')
    .refine((url) => URL.canParse(url.replaceAll(/\{\{.*?\}\}/gs, '1')), {
      error: 'a URL with a host and a port up to 65535',
      params: { code: 'invalid_string' },
    }),
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).default('POST'),
  headers: z
    .record(z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'Must be a header name'), z.string().max(2_000))
    .optional(),
  body: z.unknown().optional(),
  onFailure: z.enum(['CONTINUE', 'FAIL']).default('CONTINUE'),
});

/**
 * The config in a request. Some headers are refused, such as Content-Length. If a stored config has such a header, the
 * step sends the request without the header.
 */
const WebhookInput = WebhookConfig.superRefine(({ url, headers = {}, body }, ctx) => {
  for (const [name, value] of Object.entries(headers)) {
    const message = isReservedRequestHeader(name)
      ? `The service sets the header ${name}. Remove it.`
      : 'Must not contain line breaks';
    if (isReservedRequestHeader(name) || /[\r\n]/.test(value))
      ctx.addIssue({ code: 'custom', path: ['headers', name], message });
  }
  for (const name of listRepeatedHeaders(headers)) ctx.addIssue({ ...REPEATED_HEADER, path: ['headers', name] });
  for (const fault of listExpressionErrors({ url, headers, body })) ctx.addIssue({ code: 'custom', ...fault });
});

/**
 * The fields of a config whose method is GET. A GET request has no body, so a response names the field `body` as
 * ignored.
 */
const WithoutBody = WebhookConfig.omit({ body: true });
const DescribedInput = declareForms(WebhookInput, (input) =>
  Object(input).method === 'GET' ? WithoutBody : WebhookConfig,
);

/** Makes a request to the tenant's own endpoint. */
export const webhook: EffectStep<'webhooks'> = {
  kind: 'effect',
  // A separate queue, because endpoints are slow and must not delay other effects.
  queue: 'webhooks',
  input: DescribedInput,
  older: WebhookConfig,
  // Headers are not checked again, because the stored values are sealed, and so longer than the original values.
  faults: ({ config }) => findConfigErrors(WebhookInput, { ...config, headers: undefined }),
  branches: () => [null],
  names: [],
  secretsIn: ['headers', 'url'],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
