/**
 * The result of a DNS query for one name and record type. `fault` means that the DNS did not respond, so nothing is
 * known about the name.
 */
export type DnsAnswer<T> =
  | { kind: 'found'; records: T[] }
  /**
   * `nameExists` is true if the name exists but has no such records, and false if the name does not exist (NXDOMAIN).
   */
  | { kind: 'absent'; nameExists: boolean }
  | { kind: 'fault'; reason: string };

export interface MxRecord {
  /** The host name in lower case, without a final dot. Empty for the null MX of RFC 7505. */
  exchange: string;
  priority: number;
}

/** DNS queries with a time limit. The queries never throw. */
export interface Dns {
  ns(name: string): Promise<DnsAnswer<string>>;
  mx(name: string): Promise<DnsAnswer<MxRecord>>;
  /** Returns the text of each record, with its strings joined. */
  txt(name: string): Promise<DnsAnswer<string>>;
  /** Returns the IPv4 and IPv6 addresses. */
  addresses(name: string): Promise<DnsAnswer<string>>;
}
