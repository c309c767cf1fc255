import type { ResponseOf } from '../../api/client.ts';

export type SmsResponse = ResponseOf<'getSms'>['data'];
