import type { IncomingMessage } from 'node:http';

/** RFC 3986, section 3.2: a host, and perhaps a port. */
export const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])(?::\d*)?$/;

const ABSOLUTE_FORM = /^(?:http|ws)s?:\/\/([^/?#]*)([^#]*)$/i;

/**
 * What is wrong with Host or the target of a request (RFC 9112, section 3.2). A target in absolute form becomes its path,
 * and its host counts in the place of Host (section 3.2.2). [SEC-HTTP-1]
 */
export function problemOfHead(request: IncomingMessage): string | undefined {
  const { url = '', httpVersion } = request;
  const { host: [host, ...others] = [] } = request.headersDistinct;
  if ((host === undefined && httpVersion !== '1.0') || others.length > 0 || (host && !HOST.test(host)))
    return 'A request has one Host, with a host name and perhaps a port.';
  if (url.startsWith('/') || url === '*') return undefined;
  const [, authority = '', rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  if (!HOST.test(authority)) return 'The target of a request is a path, or an http URL.';
  request.headers.host = authority;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return undefined;
}
