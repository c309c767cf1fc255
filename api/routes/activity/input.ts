import { z } from '@hono/zod-openapi';
import { ACTIVITY_TYPES } from '../../../rules/events/activity.ts';

export const Types = z
  .string()
  .transform((words) => words.split(',').map((word) => word.trim()))
  .pipe(z.array(z.enum(ACTIVITY_TYPES)))
  .openapi({ type: 'string', description: 'Types, separated by commas', example: 'email.opened,email.clicked' });
