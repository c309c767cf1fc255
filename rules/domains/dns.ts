/** Response of the DNS for one name and type. `fault` means no response, which says nothing about the name. */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /** `nameExists` tells a name without such records from no name (NXDOMAIN). */
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'fault'; reason: string };

export interface MxRecord {
  /** In lower case, without the dot at its end; empty for the null MX of RFC 7505. */
  exchange: string;
  priority: number;
}

/** Lookups, each bounded in time; none of them throws. */
export interface Dns {
  ns(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  /** Each record's strings joined. */
  txt(name: string): Promise<DnsAnswer<string>>;
  /** IPv4 and IPv6 addresses. */
  addresses(name: string): Promise<DnsAnswer<string>>;
}
