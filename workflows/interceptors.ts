import type { WorkflowInterceptors } from '@temporalio/workflow';
import { tellBegun } from './begun.ts';
import { tellEnd } from './end.ts';

/** Around every workflow. The worker's bundle names this file. */
export const interceptors = (): WorkflowInterceptors => ({ inbound: [tellBegun(), tellEnd()] });
