import { lookup as systemLookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import type { Dns } from '../rules/domains/dns.ts';
import { BlockedAddressError, isLocalhost, isPublicAddress } from './public-address.ts';

type Callback = Parameters<LookupFunction>[2];

/**
 * Creates a function for the option `lookup` of connections to a tenant's host. The function asks the DNS itself,
 * because a process runs at most two of Node's own lookups (`dns.lookup`) at a time. With these, two names whose name
 * servers do not respond would delay all connections of all tenants, and those to Postgres and the email provider.
 *
 * The function returns only public addresses. The connection uses exactly the address that was checked, which prevents
 * DNS rebinding. With `allowPrivate`, it returns all addresses. The system then looks up `localhost`, and names that the
 * DNS does not know, because the system also knows `/etc/hosts` and search domains.
 */
export function createWebhookLookup(
  dns: Pick<Dns, 'addresses'>,
  { allowPrivate }: { allowPrivate: boolean },
): LookupFunction {
  return (hostname, options, callback) => {
    if (allowPrivate && isLocalhost(hostname)) return systemLookup(hostname, options, callback);
    void dns.addresses(hostname).then((answer) => {
      if (answer.kind === 'fault') return fail(callback, 'EAI_AGAIN', `no address of ${hostname}: ${answer.reason}`);
      if (answer.kind === 'absent' && allowPrivate) return systemLookup(hostname, options, callback);
      if (answer.kind === 'absent') return fail(callback, 'ENOTFOUND', `${hostname} has no address in the DNS`);
      const allowed = allowPrivate ? answer.records : answer.records.filter(isPublicAddress);
      const [first, ...others] = allowed.map((address) => ({ address, family: isIP(address) }));
      if (!first) return callback(new BlockedAddressError(`${hostname} has no public address`), '', 4);
      if (options.all) return callback(null, [first, ...others]);
      callback(null, first.address, first.family);
    });
  };
}

/** Reports a failed lookup with the code that Node's own lookup would have. */
function fail(callback: Callback, code: 'EAI_AGAIN' | 'ENOTFOUND', message: string): void {
  callback(Object.assign(new Error(`${code}: ${message}`), { code, syscall: 'lookup' }), '', 4);
}
