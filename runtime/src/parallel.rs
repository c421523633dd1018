//! The loops that use all cores: rayon's, and where there are no threads, the same calls one after the other.
//! A browser has one thread, and rayon is a tenth of what it would load.

#[cfg(not(target_family = "wasm"))]
pub(crate) use rayon::{current_num_threads, prelude::*};

#[cfg(target_family = "wasm")]
pub(crate) use one_thread::{IntoParallel, ParallelChunks, ParallelIterate, current_num_threads};

/// Whether this is a thread of rayon's pool, which must not wait for a thread that asks rayon for work.
pub(crate) fn in_pool() -> bool {
    !cfg!(target_family = "wasm") && rayon::current_thread_index().is_some()
}

/// Appends zeros. All cores write them, since the system maps pages when they are first written.
pub(crate) fn extend_with_zeros(words: &mut Vec<u32>, count: usize) {
    #[cfg(not(target_family = "wasm"))]
    words.par_extend(rayon::iter::repeat_n(0, count));
    #[cfg(target_family = "wasm")]
    words.resize(words.len() + count, 0);
}

#[cfg(target_family = "wasm")]
mod one_thread {
    /// As rayon's.
    pub(crate) fn current_num_threads() -> usize {
        1
    }

    /// An iterator with the methods of rayon's that the crate calls.
    #[derive(Clone)]
    pub(crate) struct Sequential<I>(I);

    impl<I: Iterator> Sequential<I> {
        pub(crate) fn zip<J: IntoIterator>(
            self,
            other: J,
        ) -> Sequential<std::iter::Zip<I, J::IntoIter>> {
            Sequential(self.0.zip(other))
        }

        pub(crate) fn enumerate(self) -> Sequential<std::iter::Enumerate<I>> {
            Sequential(self.0.enumerate())
        }

        pub(crate) fn map<T, F: FnMut(I::Item) -> T>(
            self,
            each: F,
        ) -> Sequential<std::iter::Map<I, F>> {
            Sequential(self.0.map(each))
        }

        pub(crate) fn for_each(self, each: impl FnMut(I::Item)) {
            self.0.for_each(each);
        }

        pub(crate) fn try_for_each<E>(
            mut self,
            each: impl FnMut(I::Item) -> Result<(), E>,
        ) -> Result<(), E> {
            self.0.try_for_each(each)
        }

        pub(crate) fn try_for_each_init<T, E>(
            mut self,
            init: impl FnOnce() -> T,
            mut each: impl FnMut(&mut T, I::Item) -> Result<(), E>,
        ) -> Result<(), E> {
            let mut space = init();
            self.0.try_for_each(|item| each(&mut space, item))
        }

        pub(crate) fn any(mut self, is: impl FnMut(I::Item) -> bool) -> bool {
            self.0.any(is)
        }

        pub(crate) fn reduce(
            self,
            first: impl FnOnce() -> I::Item,
            join: impl FnMut(I::Item, I::Item) -> I::Item,
        ) -> I::Item {
            self.0.fold(first(), join)
        }

        pub(crate) fn collect<C: FromIterator<I::Item>>(self) -> C {
            self.0.collect()
        }
    }

    impl<I: Iterator> IntoIterator for Sequential<I> {
        type Item = I::Item;
        type IntoIter = I;

        fn into_iter(self) -> I {
            self.0
        }
    }

    /// `into_par_iter`
    pub(crate) trait IntoParallel: IntoIterator + Sized {
        fn into_par_iter(self) -> Sequential<Self::IntoIter> {
            Sequential(self.into_iter())
        }
    }

    impl<I: IntoIterator> IntoParallel for I {}

    /// `par_iter` and `par_iter_mut`
    pub(crate) trait ParallelIterate<T> {
        fn par_iter(&self) -> Sequential<std::slice::Iter<'_, T>>;
        fn par_iter_mut(&mut self) -> Sequential<std::slice::IterMut<'_, T>>;
    }

    impl<T> ParallelIterate<T> for [T] {
        fn par_iter(&self) -> Sequential<std::slice::Iter<'_, T>> {
            Sequential(self.iter())
        }

        fn par_iter_mut(&mut self) -> Sequential<std::slice::IterMut<'_, T>> {
            Sequential(self.iter_mut())
        }
    }

    /// `par_chunks` and `par_chunks_mut`
    pub(crate) trait ParallelChunks<T> {
        fn par_chunks(&self, size: usize) -> Sequential<std::slice::Chunks<'_, T>>;
        fn par_chunks_mut(&mut self, size: usize) -> Sequential<std::slice::ChunksMut<'_, T>>;
    }

    impl<T> ParallelChunks<T> for [T] {
        fn par_chunks(&self, size: usize) -> Sequential<std::slice::Chunks<'_, T>> {
            Sequential(self.chunks(size))
        }

        fn par_chunks_mut(&mut self, size: usize) -> Sequential<std::slice::ChunksMut<'_, T>> {
            Sequential(self.chunks_mut(size))
        }
    }
}
