import Foundation
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardServices

extension CachedCall {
    /// Looks for a stored response in memory, then on disk.
    package struct Recall: Sendable {
        /// The result of the lookup.
        package enum Outcome: Sendable {
            case found(CachedValue<Value>)
            /// No stored response may be used, for this reason.
            case missing(APIError.CacheReason)
        }

        private let call: APICall<Value>
        private let plan: CachePlan

        package init(of cached: CachedCall) {
            call = cached.call
            plan = cached.plan
        }

        package nonisolated(nonsending) func stored() async -> Outcome {
            var reason = APIError.CacheReason.invalidMetadata
            if let entry = plan.cache.entry(for: plan.key, as: Value.self) {
                guard let refusal = refusal(of: entry) else { return .found(plan.judged(entry)) }
                reason = refusal
            }
            guard plan.policy.usesDisk, let disk = plan.cache.disk else { return .missing(reason) }
            return await recalled(from: disk)
        }

        /// Returns the matching value in memory, even if it is stale.
        package func remembered() -> CachedValue<Value>? {
            guard let entry = plan.cache.entry(for: plan.key, as: Value.self), refusal(of: entry) == nil else {
                return nil
            }
            return plan.judged(entry)
        }

        /// Returns the reason why a stored value does not match the call, or `nil` if it matches.
        private func refusal(of entry: CachedValue<Value>) -> APIError.CacheReason? {
            if let refusal = entry.stamp.refusal(for: plan.stamp) { return refusal }
            // A call with other rules may have stored the value. In contrast, a response on disk is decoded by this
            // call's rules.
            guard call.accepts(entry.answer?.status) else { return .invalidData }
            // A call with the freshness `.lifetime` has stored this entry without the times that HTTP's rules need.
            // These rules may forbid the use of the entry.
            let isUnruled = plan.policy.freshness == .http && entry.answer != nil && entry.http == nil
            return isUnruled || !isToOwnFields(entry) ? .invalidMetadata : nil
        }

        /// Returns whether the entry can be the response to a request with the call's header fields.
        ///
        /// The result is `false` only if HTTP's rules decide on freshness and do not accept the entry for these fields.
        private func isToOwnFields(_ entry: CachedValue<Value>) -> Bool {
            guard plan.policy.freshness == .http, let http = entry.http else { return true }
            return http.matches(plan.selecting(call.configuration.headers))
        }

        /// Reads and decodes the response on disk, and stores it in memory.
        ///
        /// This function does not run on the caller's executor.
        @concurrent private func recalled(from disk: any ResponseStore) async -> Outcome {
            do throws(APIError.CacheReason) {
                let removals = plan.removalsSoFar(at: call.configuration)
                let answer = try await disk.answer(for: plan.key)
                let now = plan.cache.wallClock()
                if let refusal = answer.refusal(for: plan.policy, appVersion: disk.appVersion, now: now) {
                    throw refusal
                }
                guard answer.isFor(plan.stamp.accept) else { throw .invalidMetadata }
                if await plan.isOutdated(answer, in: disk) { throw .expired }
                if plan.isAmbiguousOnDisk(answer, call.configuration.headers) { throw .invalidMetadata }
                guard let value = try? call.value(of: answer) else { throw .invalidData }
                let age = Duration(clampingSeconds: now.timeIntervalSince(answer.created))
                // An entry that was stored in memory in the meantime is newer than the response on disk.
                if let entry = remembered() { return .found(entry) }
                plan.unlessRemoved(since: removals, at: call.configuration) {
                    plan.keep(value, answer, age: age, cost: answer.body.count, call.configuration.headers)
                }
                let found = found(value, answer, age: age)
                if let refusal = refusal(of: found) { throw refusal }
                return .found(plan.judged(found))
            } catch {
                return .missing(error)
            }
        }

        private func found(_ value: Value, _ answer: StoredResponse, age: Duration) -> CachedValue<Value> {
            CachedValue(
                value: value,
                age: age,
                isFresh: age < answer.lifetime,
                tags: answer.tags,
                answer: answer.head,
                redirectedTo: answer.redirectedTo,
                cost: answer.body.count,
                http: plan.http(of: answer, call.configuration.headers),
                stamp: plan.stamp
            )
        }
    }
}
