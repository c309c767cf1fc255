import type { ResponseOf } from '../../api/client.ts';

export type Email = ResponseOf<'getEmail'>['data'];
