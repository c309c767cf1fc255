import { z } from 'zod';
import { refuseExpressions } from '../../content/expressions.ts';
import { findUnfinishedOutput } from '../../content/liquid.ts';
import { findSmsTextError } from '../../sms/text.ts';
import { isParsingWithOlderRules } from '../../stored-values.ts';
import { type EffectStep, findConfigErrors } from './definition.ts';

/** The maximum length of the template, which may be longer than the rendered text. */
const SOURCE_MAX_CHARS = 10_000;

const Body = z
  .string()
  .min(1)
  .max(SOURCE_MAX_CHARS)
  .superRefine((text, ctx) => {
    const message = findSmsTextError(text);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

/** The config of a SEND_SMS step that can send. */
export const SendSmsConfig = z.object({
  body: Body,
  from: z.string().min(1).max(20).optional(),
  /** True for a transactional SMS, which no sending window delays. Otherwise the SMS is marketing. */
  transactional: z.boolean().optional(),
});

/**
 * Adds an issue for an unfinished expression. A stored text may have one, so this check does not apply to stored
 * configs.
 */
function refuseUnfinished(text: string, ctx: z.RefinementCtx): void {
  const fault = isParsingWithOlderRules() ? undefined : findUnfinishedOutput(text, 'text');
  if (fault) ctx.addIssue({ code: 'custom', message: `${fault.message} (line ${fault.line}, column ${fault.column})` });
}

/**
 * The config in a request. `templateId` is refused, because templates are only for email, and the step would send
 * nothing.
 */
const SendSmsInput = SendSmsConfig.partial({ body: true })
  .extend({
    body: Body.superRefine(refuseUnfinished).optional(),
    from: SendSmsConfig.shape.from.unwrap().superRefine(refuseExpressions).optional(),
    templateId: z.null({ error: 'templates are for mail: write the text in body' }).optional(),
  })
  .transform(({ templateId: _, ...config }) => config);

/** Sends an SMS to the contact's number. */
export const sendSms: EffectStep<'steps'> = {
  kind: 'effect',
  queue: 'steps',
  // The text may be missing until the workflow is enabled.
  input: SendSmsInput,
  older: SendSmsConfig.partial({ body: true }),
  faults: ({ config }) => (config.body === undefined ? ['has no body'] : findConfigErrors(SendSmsConfig, config)),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
