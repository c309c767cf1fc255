import { z } from 'zod';
import { refuseUnfilled } from '../../content/expressions.ts';
import { findUnfinishedOutput } from '../../content/liquid.ts';
import { smsTextFault } from '../../sms/text.ts';
import { isParsedAsOlder } from '../../stored-values.ts';
import { configFaults, type EffectStep } from './definition.ts';

/** The source may be longer than the rendered text. */
const SOURCE_MAX_CHARS = 10_000;

const Body = z
  .string()
  .min(1)
  .max(SOURCE_MAX_CHARS)
  .superRefine((text, ctx) => {
    const message = smsTextFault(text);
    if (message !== undefined) ctx.addIssue({ code: 'custom', message });
  });

/** Settings that a SEND_SMS step needs in order to send. */
export const SendSmsConfig = z.object({
  body: Body,
  from: z.string().min(1).max(20).optional(),
  /** True for an SMS that no sending window delays. Otherwise it is marketing. */
  transactional: z.boolean().optional(),
});

/** Saved texts may have unfinished expressions and keep working. */
function refuseUnfinished(text: string, ctx: z.RefinementCtx): void {
  const fault = isParsedAsOlder() ? undefined : findUnfinishedOutput(text, 'text');
  if (fault) ctx.addIssue({ code: 'custom', message: `${fault.message} (line ${fault.line}, column ${fault.column})` });
}

/** A step with a template would send nothing, so saving it is an error. */
const SendSmsInput = SendSmsConfig.partial({ body: true })
  .extend({
    body: Body.superRefine(refuseUnfinished).optional(),
    from: SendSmsConfig.shape.from.unwrap().superRefine(refuseUnfilled).optional(),
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
  faults: ({ config }) => (config.body === undefined ? ['has no body'] : configFaults(SendSmsConfig, config)),
  branches: () => [null],
  names: [],
  secretsIn: [],
  sendsEmail: false,
  conditionAt: null,
  usesField: null,
  usesEvent: null,
};
