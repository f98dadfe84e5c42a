import SwitchyardClient

/// A member whose call has an owner.
protocol OwnedMember {
    /// The owner of the call, or `nil` if the call is bound to no user.
    var owner: CallOwner? { get }
}

extension GroupMember {
    var callOwner: CallOwner? { (self as? any OwnedMember)?.owner }
}

extension APIRequest: OwnedMember {
    var owner: CallOwner? { configuration.outlivesLogout ? nil : configuration.callOwner }
}
