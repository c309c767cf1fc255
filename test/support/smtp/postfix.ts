import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findFreePort } from '../../../cli/start/ports.ts';
import { createCertificate } from '../certificate.ts';
import { type DebianFiles, fetchDebianFiles } from '../debian-packages.ts';
import { until } from '../until.ts';

/** Debian packages: Postfix, Cyrus SASL for its AUTH with a password file, and the program that writes that file. */
const PACKAGES = ['postfix', 'libsasl2-2', 'libsasl2-modules', 'libsasl2-modules-db', 'sasl2-bin'];
/**
 * Every Debian has these accounts, and no program uses them. The owner of Postfix's queue must be neither root nor
 * nobody.
 */
const [OWNER, GROUP] = ['uucp', 'news'];
const REALM = 'postfix.test';
/**
 * A shell script that runs Postfix's main process in a process group, and ends the group when the process of the test
 * has ended.
 */
const GUARD = 'exec 3<&0; setsid "$0" "$@" & master=$!; (read _ <&3; kill $master) & wait $master';
export const POSTFIX_SIZE_MAX = 300_000;

/**
 * A listener for each mechanism, so that a client must use that mechanism. `ANY` offers all mechanisms. `TLS` is
 * encrypted from the first byte.
 */
export const POSTFIX_LISTENERS = ['ANY', 'PLAIN', 'LOGIN', 'CRAM-MD5', 'TLS'] as const;
export type PostfixListener = (typeof POSTFIX_LISTENERS)[number];

export interface Postfix {
  ports: Record<PostfixListener, number>;
  /** The self-signed certificate of Postfix for `localhost`. */
  certificate: string;
  /** Returns the whole log of Postfix. */
  log(): string;
  /** Creates a user, or changes the user's password. */
  setPassword(user: string, password: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Returns the files of Postfix from Debian's packages. If Postfix cannot run here, returns the reason as a sentence.
 */
export async function findPostfix(): Promise<DebianFiles | string> {
  if (process.getuid?.() !== 0) return 'Postfix starts for root only.';
  const files = await fetchDebianFiles(PACKAGES);
  if (typeof files === 'string') return files;
  return readUnixId('passwd', OWNER) && readUnixId('group', GROUP)
    ? files
    : `There is no user ${OWNER} or no group ${GROUP}.`;
}

/**
 * Starts a Postfix that is independent of the system's: with its own configuration and queue, and ports on loopback. It
 * accepts email by STARTTLS from clients that sign in, and forwards all of it to `relayPort`.
 */
export async function startPostfix(files: DebianFiles, p: { relayPort: number }): Promise<Postfix> {
  const home = mkdtempSync(join(tmpdir(), 'tidings-postfix-'));
  const ports = Object.fromEntries(
    await Promise.all(POSTFIX_LISTENERS.map(async (name) => [name, await findFreePort()] as const)),
  ) as Postfix['ports'];
  const { cert, key } = await createCertificate();
  createFolders(home);
  writeFileSync(join(home, 'cert.pem'), cert);
  writeFileSync(join(home, 'key.pem'), key, { mode: 0o600 });
  writeFileSync(join(home, 'config', 'main.cf'), formatMainCf(files.root, home, p.relayPort));
  writeFileSync(join(home, 'config', 'master.cf'), formatMasterCf(ports));
  for (const name of POSTFIX_LISTENERS)
    writeFileSync(join(home, 'config', 'sasl', `${name}.conf`), formatSaslConf(home, name));
  const readLog = () => readFileSync(join(home, 'mail.log'), { encoding: 'utf8', flag: 'a+' });
  const master = await startMaster(files, home, readLog, ports.ANY);
  return {
    ports,
    certificate: cert,
    log: readLog,
    setPassword: (user, password) => setPassword(files, home, { user, password }),
    close: async () => {
      const ended = master.exitCode === null ? once(master, 'exit') : undefined;
      master.stdin?.end();
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Creates the folders that `postfix check` would create. */
function createFolders(home: string): void {
  const [uid, gid] = [readUnixId('passwd', OWNER) ?? 0, readUnixId('group', GROUP) ?? 0];
  chmodSync(home, 0o755);
  for (const name of ['config', 'config/sasl', 'queue', 'queue/pid']) mkdirSync(join(home, name), { mode: 0o755 });
  const queues = ['active', 'bounce', 'corrupt', 'defer', 'deferred', 'flush', 'hold', 'incoming', 'private', 'saved'];
  const owned = [...queues, 'trace', 'maildrop', 'public'].map((name) => join('queue', name));
  for (const name of [...owned, 'data', 'passwords']) {
    mkdirSync(join(home, name));
    chownSync(join(home, name), uid, gid);
    chmodSync(join(home, name), /maildrop|public/.test(name) ? 0o710 : 0o700);
  }
}

function formatMainCf(root: string, home: string, relayPort: number): string {
  return `
compatibility_level = 3.6
command_directory = ${root}/usr/sbin
daemon_directory = ${root}/usr/lib/postfix/sbin
shlib_directory = ${root}/usr/lib/postfix
meta_directory = ${home}/config
queue_directory = ${home}/queue
data_directory = ${home}/data
maillog_file = ${home}/mail.log
maillog_file_prefixes = ${home}
mail_owner = ${OWNER}
setgid_group = ${GROUP}
import_environment = LD_LIBRARY_PATH SASL_PATH MAIL_CONFIG MAIL_LOGTAG POSTLOG_SERVICE POSTLOG_HOSTNAME LANG=C
myhostname = mx.${REALM}
mydestination =
mynetworks =
local_recipient_maps =
alias_maps =
alias_database =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
relayhost = [127.0.0.1]:${relayPort}
smtpd_peername_lookup = no
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_sasl_auth_enable = yes
smtpd_sasl_local_domain = ${REALM}
smtpd_sasl_authenticated_header = yes
smtpd_tls_security_level = may
smtpd_tls_auth_only = yes
smtpd_tls_cert_file = ${home}/cert.pem
smtpd_tls_key_file = ${home}/key.pem
smtpd_tls_received_header = yes
message_size_limit = ${POSTFIX_SIZE_MAX}
`;
}

function formatMasterCf(ports: Postfix['ports']): string {
  const listeners = POSTFIX_LISTENERS.map((name) => {
    const tls = name === 'TLS' ? ' -o smtpd_tls_wrappermode=yes' : '';
    return `127.0.0.1:${ports[name]} inet n - n - - smtpd -o smtpd_sasl_path=${name}${tls}`;
  });
  return `${listeners.join('\n')}
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
postlog unix-dgram n - n - 1 postlogd
`;
}

/** Debian's Postfix reads it from `sasl/` in the configuration. */
function formatSaslConf(home: string, name: PostfixListener): string {
  const mechanisms = name === 'ANY' || name === 'TLS' ? 'PLAIN LOGIN CRAM-MD5' : name;
  return `pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: ${getPasswordFile(home)}
mech_list: ${mechanisms}
`;
}

function getPasswordFile(home: string): string {
  return join(home, 'passwords', 'sasldb');
}

async function startMaster(files: DebianFiles, home: string, log: () => string, port: number): Promise<ChildProcess> {
  const program = join(files.root, 'usr', 'lib', 'postfix', 'sbin', 'master');
  const words = ['-c', GUARD, program, '-c', join(home, 'config'), '-d'];
  const master = spawn('sh', words, { env: files.env, stdio: ['pipe', 'ignore', 'pipe'] });
  let errors = '';
  master.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  await until(async () => {
    if (master.exitCode !== null) throw new Error(`Postfix ended: ${errors}${log()}`);
    return isListening(port);
  }, 'Postfix');
  return master;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('data', () => {
      socket.end('QUIT\r\n');
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function setPassword(files: DebianFiles, home: string, p: { user: string; password: string }): Promise<void> {
  const file = getPasswordFile(home);
  const program = join(files.root, 'usr', 'sbin', 'saslpasswd2');
  const child = spawn(program, ['-p', '-c', '-f', file, '-u', REALM, p.user], { env: files.env });
  child.stdin.end(p.password);
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`saslpasswd2 failed with ${code}`);
  chownSync(file, readUnixId('passwd', OWNER) ?? 0, readUnixId('group', GROUP) ?? 0);
}

/** Returns the numeric id of a user or group. */
function readUnixId(file: 'passwd' | 'group', name: string): number | undefined {
  const line = readFileSync(join('/etc', file), 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  return line === undefined ? undefined : Number(line.split(':')[2]);
}
