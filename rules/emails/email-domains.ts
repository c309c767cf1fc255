/** Lists of email domains, by kind. Each list is sorted, and each word is one domain. */

/** Domains of mailbox providers: free, or included in an internet connection. */
const FREE_MAIL =
  '126.com 139.com 163.com 189.cn 21cn.com abv.bg alice.it aliyun.com aol.co.uk aol.com aol.de arcor.de att.net bellsouth.net ' +
  'bigpond.com bk.ru bluewin.ch bluemail.ch bol.com.br btinternet.com caramail.com centrum.cz charter.net comcast.net cox.net ' +
  'daum.net disroot.org duck.com earthlink.net email.com email.cz email.de email.it fastmail.com fastmail.fm free.fr freenet.de ' +
  'frontier.com gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hispeed.ch hotmail.be hotmail.ca ' +
  'hotmail.ch hotmail.co.uk hotmail.com hotmail.com.ar hotmail.com.br hotmail.de hotmail.es hotmail.fr hotmail.it hotmail.nl hushmail.com ' +
  'icloud.com ig.com.br inbox.lv inbox.ru interia.pl juno.com kakao.com laposte.net libero.it list.ru live.be live.ca live.ch live.cn ' +
  'live.co.uk live.com live.com.au live.de live.dk live.fr live.it live.nl live.se lycos.com mac.com mail.com mail.de mail.ee mail.ru ' +
  'mailbox.org mailfence.com me.com msn.com nate.com naver.com neuf.fr ntlworld.com o2.pl onet.pl onet.eu op.pl optonline.net ' +
  'optusnet.com.au orange.fr outlook.at outlook.be outlook.co.th outlook.com outlook.com.br outlook.de outlook.dk outlook.es outlook.fr ' +
  'outlook.ie outlook.it outlook.jp pm.me pobox.com posteo.de proton.me protonmail.ch protonmail.com qq.com rambler.ru rediffmail.com ' +
  'riseup.net rocketmail.com rogers.com runbox.com sapo.pt sbcglobal.net seznam.cz sfr.fr shaw.ca sina.cn sina.com sky.com skynet.be ' +
  'sohu.com startmail.com sympatico.ca t-online.de talktalk.net telenet.be telia.com telus.net terra.com.br tin.it tiscali.it tuta.com ' +
  'tuta.io tutamail.com tutanota.com tutanota.de ukr.net uol.com.br verizon.net vfemail.net virgilio.it virginmedia.com vodafone.de ' +
  'voila.fr walla.co.il wanadoo.fr web.de windowslive.com wp.pl xtra.co.nz ya.ru yahoo.ca yahoo.co.id yahoo.co.in yahoo.co.jp ' +
  'yahoo.co.uk yahoo.com yahoo.com.ar yahoo.com.au yahoo.com.br yahoo.com.mx yahoo.com.ph yahoo.de yahoo.es yahoo.fr yahoo.gr yahoo.ie ' +
  'yahoo.in yahoo.it yandex.com yandex.ru yeah.net ymail.com zoho.com zohomail.com zonnet.nl';

/** Domains of alias services, whose addresses forward to another mailbox of the same person. */
const RELAY =
  '33mail.com 8alias.com 8shield.net addy.io aleeas.com alias.eff.org anonaddy.com anonaddy.me blur.com duck.com erine.email ' +
  'firemail.de forwardemail.net hide.me hidemail.app idbloc.co ironvest.com mailer.me manyme.com mozmail.com opayq.com passfwd.com ' +
  'passinbox.com passmail.com passmail.net privaterelay.appleid.com relay.firefox.com simplelogin.co simplelogin.com ' +
  'simplelogin.fr simplelogin.io silomails.com slmail.me slmails.com';

/** Real domains that look like a misspelled well-known domain. */
const NO_TYPO =
  'ail.com aim.com email.com gmx.com gmx.net hey.com hmail.com inbox.com live.com mac.com mail.com mail.ru me.com msn.com ' +
  'ovi.com pm.me proton.me qq.com rmail.com tmail.com vmail.com ymail.com';

/** Misspelled top-level domains that do not exist, each with the intended one. */
export const MISSPELLED_ENDINGS: Readonly<Record<string, string>> = {
  cmo: 'com',
  ocm: 'com',
  con: 'com',
  vom: 'com',
  xom: 'com',
  cim: 'com',
  cpm: 'com',
  coom: 'com',
  comm: 'com',
  clm: 'com',
  nte: 'net',
  ner: 'net',
  neet: 'net',
  nett: 'net',
  ogr: 'org',
  rog: 'org',
  orgg: 'org',
  prg: 'org',
};

const parseDomains = (text: string): ReadonlySet<string> => new Set(text.split(' '));

export const FREE_MAIL_DOMAINS = parseDomains(FREE_MAIL);
export const RELAY_DOMAINS = parseDomains(RELAY);
export const REAL_LOOKALIKES = parseDomains(NO_TYPO);

/**
 * Tells whether a domain or one of its parent domains is in the set, because alias services also use subdomains
 * (`ada.anonaddy.com`).
 */
export function isDomainListed(domain: string, set: ReadonlySet<string>): boolean {
  for (let name = domain; name.includes('.'); name = name.slice(name.indexOf('.') + 1)) if (set.has(name)) return true;
  return false;
}
