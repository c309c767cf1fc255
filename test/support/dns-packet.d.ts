/** Types for the part of dns-packet that the DNS server of the tests uses. The package has no types. */
declare module 'dns-packet' {
  export interface Question {
    type: string;
    name: string;
  }
  export interface Answer {
    type: string;
    name: string;
    ttl?: number;
    data: unknown;
  }
  export interface Packet {
    id?: number;
    type?: 'query' | 'response';
    flags?: number;
    questions?: Question[];
    answers?: Answer[];
  }
  export function decode(buffer: Buffer): Packet;
  export function encode(packet: Packet): Buffer;
  export const AUTHORITATIVE_ANSWER: number;
}
