import type { ResponseOf } from '../../api/client.ts';

export type Mail = ResponseOf<'getEmail'>['data'];
