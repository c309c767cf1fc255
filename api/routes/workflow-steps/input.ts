import { z } from '@hono/zod-openapi';
import { STEP_TYPES, STEPS, type StepType } from '../../../rules/executions/steps/registry.ts';
import { declareForms } from '../../../rules/input-forms.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';
import { Branch, Position, StepTypeSchema } from '../workflows/response.ts';

export const WorkflowParams = z.object({ id: Id });

export const StepParams = z.object({ id: Id, stepId: Id });

const ConfigInput = z.record(z.string(), z.unknown());

/**
 * Declares that the fields of `config` depend on the step's `type`.
 * @param more returns additional fields of the config for a type of step
 */
export function withConfigForms<Step extends z.ZodObject>(
  step: Step,
  more: (type: StepType) => z.ZodObject = () => z.object({}),
): Step {
  const forms = new Map<unknown, z.ZodType>(
    STEP_TYPES.map((type) => [type, step.extend({ config: z.union([STEPS[type].input, more(type)]) })]),
  );
  const anyConfig = z.object(step.shape);
  return declareForms(step, (input) => forms.get(Object(input).type) ?? anyConfig);
}

export const CreateStep = withConfigForms(
  z
    .object({
      type: StepTypeSchema,
      name: z.string().trim().min(1).max(200).optional(),
      config: ConfigInput.default({}),
      templateId: Id.nullish(),
      position: Position.nullish(),
      autoConnect: z.boolean().default(false),
    })
    .openapi('CreateWorkflowStep', {
      description: 'The fields of `config` depend on the type of the step. The guide to automations lists them.',
      example: { type: 'DELAY', name: 'A day later', config: { amount: 1, unit: 'days' }, autoConnect: true },
    }),
);

export const PatchStep = z
  .object({
    updatedAt: ReadUpdatedAt,
    name: z.string().trim().min(1).max(200).optional(),
    config: ConfigInput.optional(),
    templateId: Id.nullish(),
    position: Position.nullish(),
  })
  .openapi('PatchWorkflowStep', { example: { config: { amount: 2, unit: 'days' } } });

export const CreateTransition = z
  .object({ fromStepId: Id, toStepId: Id, branch: Branch.nullish() })
  .openapi('CreateWorkflowTransition', {
    example: {
      fromStepId: EXAMPLE_ID,
      toStepId: '0190a000-0000-7000-8000-000000000001',
      branch: 'yes',
    },
  });
