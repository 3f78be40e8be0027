import { create } from 'zustand';

interface FramesState {
  /** The frame that is shown, of the connection that is. */
  readonly selected: { readonly connectionId: string; readonly number: number } | undefined;
}

/** Which frame is shown outlives the view, and the timeline of packets can choose it. */
export const useFramesStore = create<FramesState>(() => ({ selected: undefined }));

export function selectFrame(connectionId: string, number: number | undefined): void {
  useFramesStore.setState({ selected: number === undefined ? undefined : { connectionId, number } });
}
