import { count, flag, list, object, ref, type Schema } from '../schema.ts';
import { clientSchemas } from './clients.ts';
import { messageSchemas } from './messages.ts';
import { operatorSchemas } from './operator.ts';
import { problemSchemas } from './problems.ts';
import { systemSchemas } from './systems.ts';

/** Lists that are answered a page at a time. */
const PAGED = [
  ...(['Client', 'Subscription', 'Topic', 'Ban', 'RetainedMessage', 'Member', 'DeadLetter'] as const),
  'Tenant',
] as const;

/** The schemas that operations name. */
export const SCHEMAS: Readonly<Record<string, Schema>> = {
  ...problemSchemas,
  ...clientSchemas,
  ...messageSchemas,
  ...systemSchemas,
  ...operatorSchemas,
  PageMeta: object({
    page: count('From 1.'),
    limit: count('Entries of a page.'),
    count: count('Entries of all pages.'),
    hasnext: flag('There is another page.'),
  }),
  ...Object.fromEntries(
    PAGED.map((name) => [`${name}Page`, object({ data: list(ref(name)), meta: ref('PageMeta') })]),
  ),
};
