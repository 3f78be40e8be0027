import { create } from 'zustand';
import { setUnfinished } from '../../state/unfinished.ts';
import type { ConnectionForm } from './connection-form.ts';

/** Unsaved changes, by the profile's id: they are kept while another view or connection is shown. */
export const useEdits = create<Readonly<Record<string, ConnectionForm>>>(() => ({}));

export function keepEdit(id: string, form: ConnectionForm): void {
  useEdits.setState({ [id]: form });
  setUnfinished(`edit ${id}`, true);
}

export function dropEdit(id: string): void {
  useEdits.setState(({ [id]: _dropped, ...others }) => others, true);
  setUnfinished(`edit ${id}`, false);
}
