import { z } from '@hono/zod-openapi';
import { CountryInput } from '../../http/schemas.ts';

export const EXAMPLE = { country: 'DE', from: '+4915112345678' };

export const CreateSender = z
  .object({
    country: CountryInput.nullish().openapi({
      description:
        'Country of the recipients that get SMS from this sender. If null or omitted, this is the default sender.',
    }),
    from: z
      .string()
      .trim()
      .regex(
        /^(\+[1-9]\d{6,14}|\d{3,8}|(?=.*[A-Za-z])[A-Za-z0-9 ]{1,11})$/,
        'Must be a number in E.164, a short code or a name',
      ),
  })
  .openapi('CreateSmsSender', { example: EXAMPLE });
