import { z } from '@hono/zod-openapi';
import { freeJson } from '../../http/free-json.ts';
import { EXAMPLE_ID, Id } from '../../http/schemas.ts';

export const WorkflowParams = z.object({ id: Id });

export const ExecutionParams = z.object({ id: Id, executionId: Id });

export const StartExecution = z
  .object({ contactId: Id, context: freeJson('The context of an execution').nullish() })
  .openapi('StartExecution', {
    example: { contactId: EXAMPLE_ID, context: { coupon: 'SPRING' } },
  });
