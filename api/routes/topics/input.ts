import { z } from '@hono/zod-openapi';

export const LIST_DEFAULT = 20;

const fields = {
  name: z.string().trim().min(1).max(100),
  slug: z
    .string()
    .max(100)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'Must be lower-case letters and digits, joined by single hyphens')
    .optional()
    .openapi({
      description:
        'Identifies the topic. Derived from the name if omitted. Unique in the project. A new name does not change it.',
    }),
  description: z
    .string()
    .trim()
    .max(500)
    .nullish()
    .openapi({ description: 'Shown to contacts on the preference page' }),
  defaultSubscribed: z
    .boolean()
    .optional()
    .openapi({ description: 'Whether contacts without a choice are subscribed to the topic. Defaults to true.' }),
};

export const CreateTopic = z
  .object(fields)
  .openapi('CreateTopic', { example: { name: 'Product news', description: 'News about the product, once a month' } });

export const PatchTopic = z
  .object(fields)
  .partial()
  .openapi('PatchTopic', { example: { defaultSubscribed: false } });
