//! Graphs of containment: structs in structs, calls in functions. Without recursion, since they are as deep
//! as the user made them, and in linear time.

/// The strongly connected components (Tarjan), each after all that its members lead to. In a graph without
/// cycles that is every node alone, in topological order.
pub(super) fn components(edges: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut number = vec![NEW; edges.len()];
    let mut low = vec![NEW; edges.len()];
    let mut open = vec![false; edges.len()];
    let (mut found, mut stack, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..edges.len() {
        let mut path = Vec::new();
        if number[root] == NEW {
            path.push((root, 0));
        }
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if *edge == 0 {
                (number[node], low[node], open[node]) = (next, next, true);
                stack.push(node);
                next += 1;
            }
            let to = edges[node].get(*edge).copied();
            *edge += 1;
            match to {
                Some(to) if number[to] == NEW => path.push((to, 0)),
                Some(to) if open[to] => low[node] = low[node].min(number[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some((parent, _)) = path.last() {
                        low[*parent] = low[*parent].min(low[node]);
                    }
                    if low[node] == number[node] {
                        let from = stack.iter().rposition(|member| *member == node);
                        let members = stack.split_off(from.unwrap_or_default());
                        members.iter().for_each(|&member| open[member] = false);
                        found.push(members);
                    }
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn circles_are_found_and_what_is_within_comes_first() {
        let edges = [vec![1], vec![2, 4], vec![1, 3], vec![], vec![4, 3], vec![0]];
        let mut found = components(&edges);
        found.iter_mut().for_each(|members| members.sort_unstable());
        assert_eq!(found, [vec![3], vec![4], vec![1, 2], vec![0], vec![5]]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let edges: Vec<Vec<usize>> = (0..1_000_000).map(|node| vec![node + 1]).collect();
        let edges = [edges, vec![vec![]]].concat();
        let order: Vec<usize> = components(&edges).into_iter().flatten().collect();
        assert!(order.iter().rev().copied().eq(0..=1_000_000));
    }
}
