import { create } from 'zustand';

interface FramesState {
  /** The selected frame of the shown connection. */
  readonly selected: { readonly connectionId: string; readonly number: number } | undefined;
}

/** The selected frame is kept while another view is open, and the timeline of packets can select it. */
export const useFramesStore = create<FramesState>(() => ({ selected: undefined }));

export function selectFrame(connectionId: string, number: number | undefined): void {
  useFramesStore.setState({ selected: number === undefined ? undefined : { connectionId, number } });
}
