import { z } from '@hono/zod-openapi';
import { anyJsonObject } from '../../http/free-json.ts';
import { ReadUpdatedAt } from '../../http/record-version.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';
import { withConfigForms } from '../workflow-steps/input.ts';
import { Branch, Position, StepTypeSchema } from '../workflows/response.ts';

/** Limit of a graph in one request. The configs of a workflow's steps are at most 3 MB together. */
export const GRAPH_MAX_BYTES = 8 * 1024 * 1024;

const STEPS_MAX = 500;
/** Maximum number of transitions: four per step on average. A SPLIT may have twenty. */
const TRANSITIONS_MAX = 4 * STEPS_MAX;

const StepName = z.string().min(1).max(100);

const GraphStep = withConfigForms(
  z
    .object({
      id: StepName.openapi({
        description:
          'Id of an existing step of this workflow. Any other text creates a new step, and the response has its id in `ids`.',
      }),
      type: StepTypeSchema,
      name: z.string().trim().min(1).max(200).optional(),
      config: anyJsonObject("A step's config").default({}),
      position: Position.nullish(),
    })
    .openapi('WorkflowGraphStep', {
      example: { id: 'new-1', type: 'DELAY', name: 'A day later', config: { amount: 1, unit: 'days' } },
    }),
);

const GraphTransition = z
  .object({ fromStepId: StepName, toStepId: StepName, branch: Branch.nullish() })
  .openapi('WorkflowGraphTransition', { example: { fromStepId: EXAMPLE_ID, toStepId: 'new-1', branch: null } });

export const SaveGraph = z
  .object({
    version: z.string().min(1).max(100).optional().openapi({
      description:
        'Version of the graph that you have read with `GET /workflows/{id}`. If the request has no `version`, no `updatedAt` and no `If-Match`, it overwrites any version.',
    }),
    updatedAt: ReadUpdatedAt,
    entryStepId: StepName.nullable(),
    steps: z.array(GraphStep).max(STEPS_MAX),
    transitions: z.array(GraphTransition).max(TRANSITIONS_MAX),
    dryRun: z.boolean().default(false).openapi({ description: 'Returns the result without saving it.' }),
  })
  .openapi('SaveWorkflowGraph', {
    example: {
      version: 'q1Z0yQmYqv0m0Vd3i4XJ5g',
      entryStepId: EXAMPLE_ID,
      steps: [
        { id: EXAMPLE_ID, type: 'DELAY', config: { amount: 1, unit: 'days' } },
        { id: 'new-1', type: 'EXIT', config: {} },
      ],
      transitions: [{ fromStepId: EXAMPLE_ID, toStepId: 'new-1', branch: null }],
    },
  });

export type GraphInput = z.output<typeof SaveGraph>;
export type GraphStepInput = GraphInput['steps'][number];

export const GraphParams = z.object({ id: Id });
