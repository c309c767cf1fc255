import type { ResponseOf } from '../../api/client.ts';

export type Execution = ResponseOf<'getExecution'>;
export type Workflow = ResponseOf<'getWorkflow'>;
