import type { OpenAPIHono } from '@hono/zod-openapi';
import type { EmailProviderKind } from '../../../rules/emails/email-providers.ts';
import type { SmsProviderKind } from '../../../rules/sms/providers.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv } from '../../http/env.ts';
import type { OpenRoutes } from '../../http/registrar.ts';
import { snsRoutes } from '../sns/routes.ts';
import { twilioRoutes } from '../twilio/routes.ts';

type CallbackRoutes = (hono: OpenAPIHono<AppEnv>, openly: OpenRoutes, deps: Deps) => void;

/** Routes of each provider's callbacks. Null: it has no callbacks, or reports by email only. */
const OF_SMS: Record<SmsProviderKind, CallbackRoutes | null> = { capture: null, twilio: twilioRoutes };
const OF_EMAIL: Record<EmailProviderKind, CallbackRoutes | null> = { capture: null, smtp: null, ses: snsRoutes };

/**
 * The callbacks of all providers, whichever are chosen: a relay may send by SES, and what left before an exchange is
 * still told of.
 */
export const providerCallbackRoutes: CallbackRoutes = (hono, openly, deps) => {
  for (const register of [...Object.values(OF_SMS), ...Object.values(OF_EMAIL)]) register?.(hono, openly, deps);
};
