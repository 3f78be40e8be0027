import { lookup as dnsLookup, type LookupAddress, type LookupOptions } from 'node:dns';
import { BlockList, isIP } from 'node:net';

/** Addresses outside the public Internet, by IANA's special-purpose registries (RFC 6890) and RFC 6598, 3056, 6052. */
const INSIDE = [
  ...['0.0.0.0/8', '10.0.0.0/8', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16', '172.16.0.0/12'],
  ...['192.0.0.0/24', '192.0.2.0/24', '192.88.99.0/24', '192.168.0.0/16', '198.18.0.0/15'],
  ...['198.51.100.0/24', '203.0.113.0/24', '224.0.0.0/4', '240.0.0.0/4'],
  // The last three contain an IPv4 address.
  ...[
    '::/128',
    '::1/128',
    '100::/64',
    '2001::/23',
    '2001:db8::/32',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
  ],
  ...['64:ff9b::/96', '64:ff9b:1::/48', '2002::/16'],
];

/** `10.0.0.0/8`, `::1`. */
export function isRange(text: string): boolean {
  const [address = '', bits, ...others] = text.split('/');
  const version = isIP(address);
  if (version === 0 || others.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const type = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    list.addSubnet(address, Number(bits ?? (type === 'ipv4' ? 32 : 128)), type);
  }
  return list;
}

const INSIDE_LIST = listOf(INSIDE);

function isIn(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');
}

/** IPv4 within IPv6, such as `::ffff:7f00:1` and `::127.0.0.1`. */
function plain(address: string): string {
  if (isIP(address) !== 6) return address;
  const { hostname } = new URL(`http://[${address.split('%', 1)[0]}]`);
  const [, high = '', low = ''] = /^\[::(?:ffff:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(hostname) ?? [];
  if (high === '') return hostname.slice(1, -1);
  const [one, two] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return [one >> 8, one & 255, two >> 8, two & 255].join('.');
}

/** The addresses of a name, as `dns.lookup` finds them. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/** The name resolves to an internal address. */
export class InsideAddressError extends Error {
  override readonly name = 'InsideAddressError';
}

type LookupCallback = (
  error: Error | null,
  address?: string | readonly LookupAddress[],
  family?: number,
) => void;

/**
 * Blocks requests to addresses outside the public Internet. It checks the address at the moment a socket connects: if a
 * name resolves to another address the next time, that is checked again.
 */
export class AddressGuard {
  readonly #allowed: BlockList;

  /** @param allowed internal ranges that may be reached nevertheless */
  constructor(allowed: readonly string[]) {
    this.#allowed = listOf(allowed);
  }

  allows(address: string): boolean {
    const judged = plain(address);
    return !isIn(INSIDE_LIST, judged) || isIn(this.#allowed, judged);
  }

  /** For the option `lookup` of a socket, which is called for names and not for addresses. */
  lookup(resolve: Resolve = dnsLookup) {
    return (hostname: string, options: LookupOptions, callback: LookupCallback): void => {
      resolve(hostname, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return callback(error);
        const allowed = addresses.filter(({ address }) => this.allows(address));
        const [first] = allowed;
        if (first === undefined) return callback(this.#refusal(hostname, addresses));
        if (options.all === true) callback(null, allowed);
        else callback(null, first.address, first.family);
      });
    };
  }

  #refusal(hostname: string, addresses: readonly LookupAddress[]): Error {
    const list = addresses.map(({ address }) => address).join(', ');
    return new InsideAddressError(`${hostname} leads to ${list}, which is inside: see "allowAddresses"`);
  }
}
