import { z } from '@hono/zod-openapi';

/** Mail clients cut a page off at about 100 KB; each recipient of a campaign gets this much rendered. */
const TEMPLATE_BODY_MAX_BYTES = 512 * 1024;

/** The body of a template or a campaign. */
export const TemplateBody = z
  .string()
  .min(1)
  .refine((body) => Buffer.byteLength(body) <= TEMPLATE_BODY_MAX_BYTES, {
    error: `A body is at most ${TEMPLATE_BODY_MAX_BYTES / 1024} KB.`,
    params: { code: 'too_big' },
  })
  .openapi({
    description: 'HTML with Liquid, at most 512 KB',
    minLength: 1,
    maxLength: TEMPLATE_BODY_MAX_BYTES,
  });
