import { z } from '@hono/zod-openapi';

export const EXAMPLE = { country: 'DE', from: '+4915112345678' };

export const CreateSender = z
  .object({
    country: z
      .string()
      .toUpperCase()
      .regex(/^[A-Z]{2}$/, 'Must be a two-letter country code (ISO 3166-1)')
      .nullish()
      .openapi({ description: 'Country of the sender. If null or omitted, sets the default sender.' }),
    from: z
      .string()
      .trim()
      .regex(
        /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
        'Must be a number in E.164, a short code or a name',
      ),
  })
  .openapi('CreateSmsSender', { example: EXAMPLE });
