import type { ResponseOf } from '../../api/client.ts';

export type Sms = ResponseOf<'getSms'>['data'];
