import { create } from 'zustand';
import { setUnfinished } from '../../state/unfinished.ts';
import type { ConnectionForm } from './connection-form.ts';

/** Changes that are not saved yet, by the profile's id: they outlive a look at another view or connection. */
export const useEdits = create<Readonly<Record<string, ConnectionForm>>>(() => ({}));

export function keepEdit(id: string, form: ConnectionForm): void {
  useEdits.setState({ [id]: form });
  setUnfinished(`edit ${id}`, true);
}

export function dropEdit(id: string): void {
  useEdits.setState(({ [id]: _dropped, ...others }) => others, true);
  setUnfinished(`edit ${id}`, false);
}
