import { expect, it } from 'vitest';
import { OPERATION_IDS, OPERATIONS, pathWith, routeOf } from '../src/index.ts';

const NAMES = [
  'a',
  '.',
  '..',
  '...',
  '%2e',
  '%2E.',
  '/..',
  'a/../b',
  '?',
  'a?b=c',
  '#',
  '&',
  '\\..',
  ' ',
  'ä',
  ';',
];

/** The path and the query that a server gets from `fetch`. */
function sent(path: string): [path: string, query: string] {
  const { pathname, search } = new URL(`/api/v5${path}`, 'http://localhost');
  return [pathname.slice('/api/v5'.length), search.slice(1)];
}

it.each(OPERATION_IDS.filter((id) => OPERATIONS[id].path.includes(':')))(
  'every name arrives at %s through a URL',
  (id) => {
    const { method, path, parameters = {} } = OPERATIONS[id];
    for (const name of NAMES) {
      const names = Object.fromEntries(Object.keys(parameters).map((each) => [each, name]));
      const routed = routeOf(method, ...sent(pathWith(path, names, { limit: '1' })));
      expect(routed).toMatchObject({ id, parameters: names });
      expect('query' in routed && routed.query.get('limit')).toBe('1');
    }
  },
);

it('a query is refused that gives a parameter twice, also where the two are equal', () => {
  for (const query of ['page=1&page=2', 'page=1&limit=5&page=1', 'p%61ge=1&page=1'])
    expect(routeOf('GET', '/clients', query)).toMatchObject({ status: 400, message: 'page is given twice.' });
  expect(routeOf('GET', '/clients', 'page=1&limit=1')).toMatchObject({ id: 'listClients' });
});

it('a name that is neither in the path nor in the query is missing', () => {
  expect(routeOf('DELETE', '/clients/', '')).toMatchObject({ status: 400, message: 'clientid is missing.' });
  expect(routeOf('DELETE', '/banned//', 'as=clientid')).toMatchObject({ status: 400 });
});
