import { describe, expect, test } from 'vitest';
import { type RequestOptions, RequestTemplate } from '../../src/index.ts';

const KNOWN = ['clientid', 'username', 'password', 'topic', 'action'];

function render(options: RequestOptions, values: Record<string, string>) {
  return new RequestTemplate(options, KNOWN, 'hook').render(values);
}

describe('the request of a hook', () => {
  test('has, with POST, EMQX’s form: placeholders in path, query and a body of JSON', () => {
    const options: RequestOptions = {
      method: 'post',
      url: 'http://127.0.0.1:8080/auth/${clientid}?user=${username}',
      body: { username: '${username}', password: '${password}', nested: { is: 'a ${topic}', count: 1 } },
      headers: { 'X-Request-Source': 'EMQX' },
    };
    expect(render(options, { clientid: 'a b', username: 'ada', password: '"\n', topic: 't' })).toEqual({
      method: 'POST',
      url: 'http://127.0.0.1:8080/auth/a%20b?user=ada',
      headers: { accept: 'application/json', 'content-type': 'application/json', 'x-request-source': 'EMQX' },
      body: JSON.stringify({ username: 'ada', password: '"\n', nested: { is: 'a t', count: 1 } }),
    });
  });

  test('has, with GET, EMQX’s form: the body is added to the query', () => {
    const options: RequestOptions = {
      method: 'get',
      url: 'http://127.0.0.1:32333/auth/${clientid}',
      body: { username: '${username}', topic: '${topic}', action: '${action}' },
    };
    const values = { clientid: 'id123', username: 'iamuser', topic: 'foo/bar', action: 'publish' };
    expect(render(options, values)).toEqual({
      method: 'GET',
      url: 'http://127.0.0.1:32333/auth/id123?username=iamuser&topic=foo%2Fbar&action=publish',
      headers: { accept: 'application/json' },
      body: undefined,
    });
  });

  test('has a form as its body if the content type says so', () => {
    const options: RequestOptions = {
      method: 'post',
      url: 'https://auth.example/',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: { username: '${username}' },
    };
    expect(render(options, { username: 'a&b=c' })?.body).toBe('username=a%26b%3Dc');
  });

  test('leaves out placeholders without a value, and has a dollar sign for ${$}', () => {
    const options: RequestOptions = {
      method: 'post',
      url: 'https://auth.example/',
      body: { username: '${username}', price: '${$}{username}' },
    };
    expect(render(options, {})?.body).toBe('{"username":"","price":"${username}"}');
  });

  test.each(['..', '.'])(
    'is not made of a client identifier %j, which leads to another path [SEC-HOOK-2]',
    (clientid) => {
      const options: RequestOptions = { method: 'get', url: 'https://auth.example/check/${clientid}' };
      expect(render(options, { clientid })).toBeUndefined();
    },
  );

  test.each(['?admin=1', '#', '&username=root', '%2e%2e', '//evil.example/', 'a/../b'])(
    'keeps a client identifier %j in its place [SEC-HOOK-2]',
    (clientid) => {
      const options: RequestOptions = {
        method: 'get',
        url: 'https://auth.example/${clientid}/check?id=${clientid}',
      };
      const url = new URL(render(options, { clientid })?.url ?? '');
      expect(url.origin).toBe('https://auth.example');
      expect(url.pathname).toBe(`/${encodeURIComponent(clientid)}/check`);
      expect([...url.searchParams]).toEqual([['id', clientid]]);
      expect(url.hash).toBe('');
    },
  );

  test('is not made of a user name that would add a header [SEC-HOOK-2]', () => {
    const options: RequestOptions = {
      method: 'get',
      url: 'https://auth.example/',
      headers: { 'x-user': '${username}' },
    };
    expect(render(options, { username: 'ada' })?.headers['x-user']).toBe('ada');
    expect(render(options, { username: 'ada\r\nx-admin: 1' })).toBeUndefined();
  });

  test.each<[string, RequestOptions, RegExp]>([
    ['no URL', { method: 'get', url: '/auth' }, /hook\.url begins with http/],
    ['a user in the URL', { method: 'get', url: 'https://ada@auth.example/' }, /hook\.url/],
    ['a placeholder in the host', { method: 'get', url: 'https://${clientid}.example/' }, /hook\.url/],
    ['a fragment', { method: 'get', url: 'https://auth.example/#x' }, /hook\.url/],
    ['a path with ..', { method: 'get', url: 'https://auth.example/a/../b' }, /without \. and \.\./],
    ['an unknown placeholder', { method: 'get', url: 'https://a.example/${pw}' }, /\$\{pw\}.*\$\{clientid\}/],
    [
      'a content type with GET',
      { method: 'get', url: 'https://a.example/', headers: { 'content-type': 'application/json' } },
      /GET request has no content-type/,
    ],
    [
      'another content type',
      { method: 'post', url: 'https://a.example/', headers: { 'content-type': 'text/plain' } },
      /content-type is application\/json/,
    ],
    [
      'an object in a query',
      { method: 'get', url: 'https://a.example/', body: { a: { b: 'c' } } },
      /only a body of JSON has objects/,
    ],
  ])('cannot be configured with %s', (_, options, message) => {
    expect(() => new RequestTemplate(options, KNOWN, 'hook')).toThrow(message);
  });
});
