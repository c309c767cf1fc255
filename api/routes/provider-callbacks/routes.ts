import type { OpenAPIHono } from '@hono/zod-openapi';
import type { EmailProviderKind } from '../../../rules/emails/email-providers.ts';
import type { SmsProviderKind } from '../../../rules/sms/providers.ts';
import type { Deps } from '../../http/deps.ts';
import type { AppEnv } from '../../http/env.ts';
import type { UnauthenticatedRoutes } from '../../http/registrar.ts';
import { registerSnsRoutes } from '../sns/routes.ts';
import { registerTwilioRoutes } from '../twilio/routes.ts';

type CallbackRoutes = (hono: OpenAPIHono<AppEnv>, unauthenticated: UnauthenticatedRoutes, deps: Deps) => void;

/** Routes for the callbacks of each provider. Null if a provider has no callbacks, or sends its reports by email. */
const SMS_CALLBACKS: Record<SmsProviderKind, CallbackRoutes | null> = { capture: null, twilio: registerTwilioRoutes };
const EMAIL_CALLBACKS: Record<EmailProviderKind, CallbackRoutes | null> = {
  capture: null,
  smtp: null,
  ses: registerSnsRoutes,
};

/**
 * Registers the callbacks of all providers, not only of the configured providers. The configured SMTP server may be
 * SES, and reports about earlier emails still arrive after the operator has changed the provider.
 */
export const registerProviderCallbackRoutes: CallbackRoutes = (hono, unauthenticated, deps) => {
  for (const register of [...Object.values(SMS_CALLBACKS), ...Object.values(EMAIL_CALLBACKS)])
    register?.(hono, unauthenticated, deps);
};
