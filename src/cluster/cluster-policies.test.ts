import { ReplacePolicy } from '..';

test('volumes that are lost are replaced unless that is left to a human', () => {
  expect(ReplacePolicy.onVolumeLoss()._spec()).toEqual({ policy: 'OnVolumeLoss' });
  expect(ReplacePolicy.manual()._spec()).toEqual({ policy: 'Manual' });
});

test('members that are asked for are named by number and id', () => {
  const force = [{ ordinal: 2, memberId: '8e9e05c52164694d', discardVolume: true }];
  expect(ReplacePolicy.manual(...force)._spec()).toEqual({ policy: 'Manual', force });
  expect(ReplacePolicy.onVolumeLoss(...force)._spec()).toEqual({ policy: 'OnVolumeLoss', force });
});

// The API server adds it inside of the list, and Argo CD's client-side diff would never be without a difference.
test('the default of a request is written', () => {
  const request = { ordinal: 2, memberId: '8e9e05c52164694d' };
  expect(ReplacePolicy.manual(request)._spec().force).toEqual([{ ...request, discardVolume: false }]);
});
