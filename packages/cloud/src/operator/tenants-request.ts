/** A request to the operator's function about tenants. */
export type TenantsRequest =
  | { readonly action: 'tenants'; readonly after: string | undefined }
  | { readonly action: 'tenant'; readonly name: string }
  | { readonly action: 'create-tenant'; readonly entry: unknown }
  | { readonly action: 'change-tenant'; readonly name: string; readonly change: unknown }
  | { readonly action: 'remove-tenant'; readonly name: string };

const ACTIONS: readonly TenantsRequest['action'][] = [
  'tenants',
  'tenant',
  'create-tenant',
  'change-tenant',
  'remove-tenant',
];

export function isTenantsAction(action: unknown): action is TenantsRequest['action'] {
  return ACTIONS.some((each) => each === action);
}

/** `textOf` reads a field that is a text, or throws. */
export function readTenantsRequest(
  action: TenantsRequest['action'],
  { entry, change }: Readonly<Record<string, unknown>>,
  textOf: (name: string) => string | undefined,
  required: (name: string) => string,
): TenantsRequest {
  switch (action) {
    case 'tenants':
      return { action, after: textOf('after') };
    case 'create-tenant':
      return { action, entry };
    case 'change-tenant':
      return { action, name: required('name'), change };
    default:
      return { action, name: required('name') };
  }
}
