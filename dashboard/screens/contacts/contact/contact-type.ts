import type { ResponseOf } from '../../../api/client.ts';

export type Contact = ResponseOf<'getContact'>;
