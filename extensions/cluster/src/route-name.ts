import { createHash } from 'node:crypto';
import type { FilterName } from '@apus/broker';

const SHARE = '$share/';

/** A filter of a tenant, and the share group where it has one, as one string. */
export function routeOf(tenant: string, name: FilterName): string {
  return `${tenant}\0${groupedFilter(name)}`;
}

/** A filter as a client writes it: no other filter may begin with `$share/`. */
export function groupedFilter({ topicFilter, shareGroup }: FilterName): string {
  return shareGroup === undefined ? topicFilter : `${SHARE}${shareGroup}/${topicFilter}`;
}

export function parseGrouped(filter: string): FilterName {
  if (!filter.startsWith(SHARE)) return { topicFilter: filter };
  const slash = filter.indexOf('/', SHARE.length);
  return { shareGroup: filter.slice(SHARE.length, slash), topicFilter: filter.slice(slash + 1) };
}

export function parseRoute(route: string): FilterName & { readonly tenant: string } {
  const end = route.indexOf('\0');
  return { tenant: route.slice(0, end), ...parseGrouped(route.slice(end + 1)) };
}

/** Longer names are remembered as their hash: a client gives a share group and its filter 64 KB. */
const REMEMBERED_LENGTH_MAX = 200;

/** The name of something that is remembered after its subscription has ended [SEC-GROWTH-4]. */
export function rememberedName(name: string): string {
  return name.length <= REMEMBERED_LENGTH_MAX ? name : createHash('sha256').update(name).digest('base64url');
}
