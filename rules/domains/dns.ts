/** Response of the DNS for one name and type. `fault` means no response, which says nothing about the name. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** `nameExists` is true for a name without such records, and false if the name does not exist (NXDOMAIN). */
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'fault'; reason: string };

export interface MxRecord {
  /** In lower case, without a final dot; empty for the null MX of RFC 7505. */
  exchange: string;
  priority: number;
}

/** Lookups with a time limit. None of them throws. */
export interface Dns {
  ns(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  /** The joined strings of each record. */
  txt(name: string): Promise<DnsAnswer<string>>;
  /** IPv4 and IPv6 addresses. */
  addresses(name: string): Promise<DnsAnswer<string>>;
}
