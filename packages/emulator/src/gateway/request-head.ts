import type { IncomingMessage } from 'node:http';

/** RFC 3986, section 3.2: a host, and perhaps a port. */
const HOST = /^(?:[\w.~!$&'()*+,;=%-]+|\[[\da-fA-F:.]+\])(?::\d*)?$/;

const ABSOLUTE_FORM = /^(?:http|ws)s?:\/\/([^/?#]*)([^#]*)$/i;

/**
 * Whether Host and the target of a request are well-formed (RFC 9112, section 3.2; RFC 6455, section 4.2.1). A target
 * in absolute form becomes its path, and its host counts in the place of Host. [SEC-HTTP-1]
 */
export function hasValidHead(request: IncomingMessage): boolean {
  const { host: [host = '', ...others] = [] } = request.headersDistinct;
  const { url = '', httpVersion } = request;
  if (!HOST.test(host) || others.length > 0 || Number(httpVersion) < 1.1) return false;
  if (url.startsWith('/')) return true;
  const [, authority = '', rest = ''] = ABSOLUTE_FORM.exec(url) ?? [];
  request.headers.host = authority;
  request.url = rest.startsWith('/') ? rest : `/${rest}`;
  return HOST.test(authority);
}
